# A bot that speaks lines, here in the shell: the last legal move.
while IFS=";" read -r position legal seconds chance game; do
    echo "${legal##* }"
done
