#!/usr/bin/env bash
# Checks the responses of a server with curl.
#
#     curl.sh PATH-OF-FEED
set -euo pipefail

feed=${1:?usage: curl.sh PATH-OF-FEED}
folder=$(mktemp -d)
servers=()
trap 'kill -9 "${servers[@]}" 2>/dev/null || true; rm -rf "$folder"' EXIT

# serve NAME OPTIONS...: starts a server, and sets url.
serve() {
  local name=$1
  shift
  "$feed" "$folder/$name" --port 0 "$@" >"$folder/$name.out" &
  servers+=($!)
  # The shell need not say that it was killed.
  disown
  for _ in $(seq 500); do
    grep -q '^listening on ' "$folder/$name.out" && break
    sleep 0.02
  done
  url="http://$(sed 's/^listening on //' "$folder/$name.out")/stream"
}

# get ARGUMENTS...: requests, and sets status; the head is in $folder/head, the body in $folder/body.
get() {
  : >"$folder/body"
  status=$(curl -sS -m 60 -D "$folder/head" -o "$folder/body" -w "%{http_code}" "$@")
}

# identify: sets list to the identity in the list's offsets.
identify() {
  get -I "$url"
  list=$(field Stream-Next-Offset)
  list=${list%_*}
}

# written COUNT: waits until the list has so many elements.
written() {
  for _ in $(seq 500); do
    identify
    [ "$(field Stream-Next-Offset)" = "$(printf '%s_%016d' "$list" "$1")" ] && return
    sleep 0.02
  done
  fail "the list has not $1 elements"
}

checks=0
fail() {
  echo "FAILED: $1" >&2
  cat "$folder/head" "$folder/body" >&2
  exit 1
}
is() {
  checks=$((checks + 1))
  [ "$status" = "$2" ] || fail "$1: $status, not $2"
}
# A header field, without regard to case.
field() { tr -d '\r' <"$folder/head" | sed -n "s/^$1: //Ip"; }
has() {
  checks=$((checks + 1))
  [ "$(field "$1")" = "$2" ] || fail "$1 is '$(field "$1")', not '$2'"
}
body() {
  checks=$((checks + 1))
  grep -q -- "$1" "$folder/body" || fail "the body has no $1"
}
empty() {
  checks=$((checks + 1))
  [ ! -s "$folder/body" ] || fail "the body is not empty"
}

# --- A list that has ended ---
serve ended --every 0 --count 10
written 10
# The end may not be written yet: a long poll tells.
get "$url?offset=${list}_0000000000000010&live=long-poll"
is 'a long poll at the end' 204
has Stream-Closed true
get "$url"
is 'all' 200
has Content-Type application/json
has Stream-Next-Offset "${list}_0000000000000010"
has Stream-Up-To-Date true
has Stream-Closed true
body '"n":9'
tag=$(field ETag)
[ -n "$tag" ] || fail 'there is no ETag'

get -H "If-None-Match: $tag" "$url"
is 'what the client has' 304
empty
has ETag "$tag"
get -H 'If-None-Match: "other"' "$url"
is 'what the client does not have' 200
get "$url?offset=${list}_0000000000000004&limit=3"
is 'a page' 200
has Stream-Next-Offset "${list}_0000000000000007"
has Stream-Closed ''
has Stream-Up-To-Date ''
get "$url?offset=${list}_0000000000000010"
is 'the end' 200
[ "$(cat "$folder/body")" = '[]' ] || fail 'the end has elements'
get "$url?offset=now"
is 'now' 200
has Stream-Next-Offset "${list}_0000000000000010"

for query in offset=5 offset=x offset= offset=-2 offset=${list}_00000000000000010 limit=0 limit=-1 \
  limit=x live=x live=sse live=long-poll; do
  get "$url?$query"
  is "$query" 400
done
for method in POST PUT PATCH DELETE OPTIONS; do
  get -X "$method" "$url"
  is "$method" 405
  has Allow 'GET, HEAD'
done

get -I "$url"
is 'HEAD' 200
has Stream-Next-Offset "${list}_0000000000000010"
has Stream-Closed true
# Two requests over one connection: nothing of the first is left there.
get -I "$url?offset=x" --next -sS -D "$folder/head" -o "$folder/body" -w '%{http_code}' "$url"
is 'HEAD, refused, and GET' 400200

get "$url?offset=${list}_0000000000000008&live=sse"
is 'events' 200
has Content-Type text/event-stream
body '^event: data$'
body "^id: ${list}_0000000000000010$"
body '"streamClosed":true'
get -H "Last-Event-ID: ${list}_0000000000000008" "$url?offset=-1&live=sse"
is 'events again' 200
body '"n":8'
if grep -q '"n":7' "$folder/body"; then fail 'Last-Event-ID was not read'; fi
get -H "Last-Event-ID: ${list}_0000000000000010" -H 'Accept: text/event-stream' "$url"
is 'events again, when the list has ended' 204

# --- A list that grows ---
serve growing --every 200 --count 20
identify
get "$url?offset=-1&live=long-poll"
is 'a long poll' 200
has Stream-Next-Offset "${list}_0000000000000001"
get "$url?offset=${list}_0000000000000001&live=long-poll"
is 'the next long poll' 200
has Stream-Next-Offset "${list}_0000000000000002"
[ -n "$(field Stream-Cursor)" ] || fail 'there is no cursor'
get -N "$url?offset=-1&live=sse"
is 'events to the end' 200
checks=$((checks + 1))
[ "$(grep -o '"n":[0-9]*' "$folder/body" | tr -d '"n:' | tr '\n' ' ')" = "$(seq -s ' ' 0 19) " ] ||
  fail 'not each element once, in order'

# --- A list that waits for a day ---
serve quiet --every 86400000
identify
start=$(date +%s)
get "$url?offset=-1&live=long-poll"
is 'a long poll without news' 204
empty
has Stream-Next-Offset "${list}_0000000000000000"
has Stream-Up-To-Date true
checks=$((checks + 1))
[ $(($(date +%s) - start)) -ge 20 ] || fail 'the poll was short'

# --- A list whose old elements are discarded ---
serve kept --every 0 --count 60 --keep 20
written 60
get "$url?offset=${list}_0000000000000060&live=long-poll"
is 'the end of a list' 204
get "$url?offset=${list}_0000000000000000"
is 'discarded elements' 410
first=$(field Stream-Next-Offset)
position=$((10#${first#*_}))
[ "$position" -gt 0 ] || fail 'the first offset kept is not named'
get "$url?offset=$first"
is 'the first elements kept' 200
body "\"n\":$position"
get "$url?offset=-1"
is 'from the beginning' 200
body "\"n\":$position"

echo "$checks checks"
