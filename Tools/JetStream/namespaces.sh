#!/bin/sh
# Runs a command with three network namespaces, n1 to n3, at 10.77.0.11 to 10.77.0.13, joined by a
# bridge at 10.77.0.1 on which the command itself is. As root: namespaces.sh COMMAND…
exec unshare -n -m sh -e -c '
  mount -t tmpfs none /run
  ip link set lo up
  ip link add bridge0 type bridge
  ip addr add 10.77.0.1/24 dev bridge0
  ip link set bridge0 up
  for i in 1 2 3; do
    ip netns add n$i
    ip link add port$i type veth peer name eth0 netns n$i
    ip link set port$i master bridge0 up
    ip -n n$i addr add 10.77.0.1$i/24 dev eth0
    ip -n n$i link set eth0 up
    ip -n n$i link set lo up
  done
  "$@"' sh "$@"
