#!/bin/sh
# run.sh [name]: checks every model of runs.txt, or those whose name begins so. Ends with 1 if a verdict is not the one
# that runs.txt expects. Needs spin and gcc. What was found is in $OUT (../target/model): pan.txt, and trail.txt of a
# counterexample.
cd "$(dirname "$0")" || exit 1
OUT=${OUT:-../target/model}
mkdir -p "$OUT"
OUT=$(cd "$OUT" && pwd)
here=$(pwd)
wrong=0
while IFS='|' read -r name expect file opts; do
  case "$name" in '' | '#'*) continue ;; esac
  case "$name" in "$1"*) ;; *) continue ;; esac
  d=$OUT/$name
  mkdir -p "$d" && cd "$d" && rm -f m.pml.trail && cp "$here/$file" m.pml || exit 1
  case "$file $opts" in
    *-DLIVE* | waiter*) cflags=-DNFAIR=4 pflags="-a -f" ;;
    *) cflags=-DSAFETY pflags= ;;
  esac
  # shellcheck disable=SC2086
  spin $opts -a m.pml >gen.txt 2>&1 || { cat gen.txt; exit 1; }
  # shellcheck disable=SC2086
  gcc -O2 -w -DMEMLIM=6000 -DCOLLAPSE $cflags -o pan pan.c || exit 1
  # shellcheck disable=SC2086
  timeout "${LIMIT:-600}" ./pan -m400000 $pflags >pan.txt 2>&1
  states=$(awk '/states, stored/ { print $1; exit }' pan.txt)
  time=$(sed -n 's/.*elapsed time \([0-9.]*\) seconds.*/\1/p' pan.txt)
  errors=$(sed -n 's/.*errors: \([0-9]*\).*/\1/p' pan.txt | head -1)
  rule=
  if [ "${errors:-x}" = 0 ] && ! grep -q -e 'max search depth too small' -e 'Search not completed' -e 'out of memory' pan.txt; then
    verdict=holds
  elif [ -f m.pml.trail ]; then
    verdict=FAILS
    # shellcheck disable=SC2086
    spin $opts -t -p -g -l m.pml >trail.txt 2>&1
    rule=$(grep -m1 -o 'assertion violated.*(at\|assertion violated.*\|acceptance cycle\|invalid end state' pan.txt | sed 's/ (at$//' | cut -c1-80)
  else
    verdict=UNKNOWN
  fi
  note=
  [ "$verdict" = "$expect" ] || { note=" EXPECTED $expect" && wrong=1; }
  printf '%-42s %-6s %12s states %8s s  %s%s\n' "$name" "$verdict" "$states" "${time:-0}" "$rule" "$note"
  cd "$here" || exit 1
done <runs.txt
exit $wrong
