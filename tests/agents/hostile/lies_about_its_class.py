"""Its error has a class that lies."""
# ends: raised


class Meta(type):
    def __instancecheck__(cls, each):
        return True

    def __subclasscheck__(cls, each):
        return True


class Liar(BaseException, metaclass=Meta):
    pass


def choose(view, legal, rng):
    raise Liar
    return legal[0]
