# What the scripts of this folder need before they build (a Swift toolchain, zlib's header), and how
# they build the two programs. Sourced by them; exits with status 2 and a line that says what to do if
# something is missing.

# The oldest Swift that builds Annals.
swift_minimum=6.2

# Prints what is wrong and what to do, and exits with status 2.
cannot() {
  printf '%s: %s\n' "${0##*/}" "$1" >&2
  shift
  for line in "$@"; do printf '%s\n' "$line" >&2; done
  exit 2
}

# Finds `swift` where its installers put it, if it is not on the path.
find_swift() {
  if command -v swift >/dev/null 2>&1; then return; fi
  local folder
  for folder in "${SWIFTLY_BIN_DIR:-$HOME/.local/share/swiftly/bin}" "$HOME/.swiftly/bin" \
    /opt/swift/usr/bin /usr/local/swift/usr/bin /usr/libexec/swift/bin; do
    if [ -x "$folder/swift" ]; then
      PATH="$folder:$PATH"
      return
    fi
  done
  cannot "there is no Swift toolchain." \
    "Install Swift $swift_minimum or newer (https://www.swift.org/install), and try again."
}

# Whether version $1 is at least version $2.
is_at_least() {
  local have=(${1//./ }) want=(${2//./ })
  ((have[0] > want[0] || (have[0] == want[0] && ${have[1]:-0} >= ${want[1]:-0})))
}

# Checks that the toolchain runs and is new enough.
check_swift() {
  find_swift
  local banner version
  banner=$(swift --version 2>/dev/null </dev/null) ||
    cannot "$(command -v swift) does not run." "Run 'swift --version' to see why."
  version=$(sed -n 's/.*Swift version \([0-9][0-9.]*\).*/\1/p' <<<"$banner" | head -n 1)
  if [ -z "$version" ]; then
    cannot "cannot tell the version of $(command -v swift)." "Run 'swift --version' to see why."
  fi
  is_at_least "$version" "$swift_minimum" ||
    cannot "Swift $version is too old; Annals needs $swift_minimum or newer." \
      "Install a newer one (https://www.swift.org/install), and try again."
}

# Whether a C compiler finds zlib's header.
has_zlib() {
  local compiler
  for compiler in clang cc gcc; do
    command -v "$compiler" >/dev/null 2>&1 || continue
    printf '#include <zlib.h>\n' | "$compiler" -E -x c - >/dev/null 2>&1
    return
  done
  [ -e /usr/include/zlib.h ]
}

# Installs a Debian package: as root, or with a sudo that asks for no password. $2 says what is
# missing.
install_package() {
  local install="apt-get install -y $1" as_root=()
  if ! command -v apt-get >/dev/null 2>&1; then
    cannot "$2 is missing." "Install it with the package manager of this system, and try again."
  fi
  if [ "$(id -u)" != 0 ]; then
    if ! sudo -n true >/dev/null 2>&1; then
      cannot "$2 is missing. Run this, and try again:" "  sudo $install"
    fi
    as_root=(sudo -n)
  fi
  printf 'Installing %s, which is missing\n' "$1"
  local quiet=(env DEBIAN_FRONTEND=noninteractive)
  if ! "${as_root[@]}" "${quiet[@]}" $install >/dev/null 2>&1 </dev/null; then
    "${as_root[@]}" apt-get update >/dev/null 2>&1 </dev/null || true
    "${as_root[@]}" "${quiet[@]}" $install >/dev/null </dev/null ||
      cannot "$1 could not be installed. Run this, and try again:" "  sudo $install"
  fi
}

# Installs zlib's header if the compiler does not find it.
check_zlib() {
  if has_zlib; then return; fi
  install_package zlib1g-dev "zlib's header (zlib.h, in zlib1g-dev)"
  has_zlib || cannot "zlib's header (zlib.h) is still missing." "Look at: apt-get install zlib1g-dev"
}

# Fetches the packages that Annals depends on, or those of the package in folder $1, so that a missing
# network is told apart from a build that fails.
fetch_packages() {
  local report folder=${1:-.}
  if ! command -v git >/dev/null 2>&1 && [ ! -e "$folder/.build/workspace-state.json" ]; then
    # The package manager fetches with it.
    install_package git "git"
  fi
  if report=$(swift package --package-path "$folder" resolve 2>&1 </dev/null); then return; fi
  printf '%s\n' "$report" >&2
  cannot "the packages that Annals depends on could not be fetched." \
    "They come from github.com: check the network, and try again."
}

# The package that builds the command and the server of the inspector: of one package they share the
# library, which is most of the work.
programs_package=Tools/Inspector

# Where they are then. Beside each other, so that `annals serve` finds the server.
programs=$programs_package/.build/release

# Builds annals or annals-serve, optimised. On Linux with Swift's libraries in it, so that it runs where
# there is no toolchain; all scripts build it alike, since with other options all is built again.
# Options of the build may follow.
build_program() {
  local product=$1 alone=
  shift
  if [ "$(uname)" = Linux ]; then alone=--static-swift-stdlib; fi
  (cd "$programs_package" && swift build -c release --product "$product" $alone "$@" </dev/null)
}

# Installs NATS's client for C if it is missing.
check_nats() {
  if [ -e /usr/include/nats/nats.h ] || pkg-config --exists libnats 2>/dev/null; then return; fi
  install_package libnats-dev "NATS's client for C (libnats-dev)"
}
