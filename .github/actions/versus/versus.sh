#!/bin/sh
# Compare FILE with itself at BASE, and write a comment in Markdown into COMMENT.
#
# Further variables: RESULTS and CACHE are directories, ARGUMENTS are options of `pitflip versus`.
# With MUST_BE_STRONGER=true the status is 1 unless the agent is shown to be stronger.
set -u
log=$(mktemp)
base=$(git merge-base "$BASE" HEAD) || base=$BASE
# ARGUMENTS are several words on purpose.
# shellcheck disable=SC2086
verdict=$(pitflip versus "$FILE" --base "$base" --results "$RESULTS" --cache "$CACHE" \
  ${ARGUMENTS:-} 2>"$log")
status=$?
cat "$log" >&2
run=$(sed -n 's/^tables: //p' "$log")

# An indented block shows names of agents and messages as they are.
{
  printf '### pitflip versus\n\n'
  if [ -n "$verdict" ]; then printf '%s\n' "$verdict"; else tail -n 1 "$log"; fi | sed 's/^pitflip versus: //; s/^/    /'
  printf '\nCompared with %s. ' "$base"
  sed -n 's/\(.* games were in the game cache\)$/\1. /p' "$log"
  printf '\n'
  if [ -n "$run" ] && pitflip export "$run" --tables markdown --out "$run/comment" 2>>"$log"; then
    for table in match first_move; do
      [ -f "$run/comment/$table.md" ] || continue
      printf '\n<details>\n\n<summary>%s</summary>\n\n' "$table"
      cat "$run/comment/$table.md"
      printf '\n</details>\n'
    done
  fi
} >"$COMMENT"

case $status in
  0) exit 0 ;;
  1) if [ "${MUST_BE_STRONGER:-false}" = true ]; then exit 1; fi ;;
  2) grep -q "nothing to compare" "$log" || exit 2 ;;
  *) exit "$status" ;;
esac
