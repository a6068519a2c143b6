"""How kernels are compiled that only kernels call: they become machine code with their callers.

Numba makes every function fast, and machine code of it, and once more of all that it calls: the
tenth of a row took the time of the nine before it, and nobody ran any of them but the last.
"""

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler


class PassageLibrary(JITCodeLibrary):
    """The code of a function as it was written, for callers to take into theirs."""

    def _optimize_final_module(self) -> None:
        """Left to the callers."""

    def _finalize_final_module(self) -> None:
        """Nobody runs it: it is done without machine code."""
        self._finalized = True


class PassageCompiler(Compiler):
    """Numba's compiler, ending before anything is made fast.

    For what neither prints nor raises: both need what Numba keeps with the machine code.
    """

    def __init__(self, *arguments: object) -> None:
        """The arguments are Numba's."""
        super().__init__(*arguments)  # type: ignore[no-untyped-call]  # Numba's
        context = self.state.targetctx  # this compiler's own copy
        library = PassageLibrary(context.codegen(), __name__)  # type: ignore[no-untyped-call]
        self.state.library = library
        context.get_executable = without_code


def without_code(library: PassageLibrary, _described: object, _environment: object) -> object:
    """What stands in Numba's tables for a function that Python cannot call."""
    library.finalize()  # type: ignore[no-untyped-call]  # Numba's
    return object()
