# A bot of the line protocol for the shell: it plays the last legal move.
while IFS=";" read -r position legal seconds chance game; do
    echo "${legal##* }"
done
