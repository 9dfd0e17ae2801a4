# shellcheck shell=sh
# What every JournalQ script shares: where things are, which Java runs, with which settings.
#
# A script sources this file after it has set JOURNALQ_BIN to its own directory (symbolic links resolved),
# then calls: journalq_exec ROLE MAIN-CLASS [ARGUMENT]...   with ROLE one of server, cli, bench, sim,
# or launcher, a command that takes neither heap nor options from the user.
#
# The user sets, all optional:
#   JAVA_HOME           the JDK to use; otherwise the newest from 17 to 25 that is found
#   JOURNALQ_HEAP       Java heap, such as 512m or 2g
#   JOURNALQ_OPTS       more Java options, separated by spaces; they win over the ones given here
#   JOURNALQ_CLASSPATH  put before the class path, to run classes of one's own

JOURNALQ_OLDEST_JAVA=17
JOURNALQ_NEWEST_JAVA=25

journalq_die() {
  printf 'journalq: %s\n' "$*" >&2
  exit 1
}

# Home is the unpacked archive, or the checkout; only the checkout has a parent POM.
JOURNALQ_HOME=$(CDPATH='' cd -- "$JOURNALQ_BIN/.." && pwd -P) || exit 1
export JOURNALQ_HOME

# Prints the directory of jars: lib/ of the archive, or what the build of a checkout assembled.
journalq_lib() {
  if [ ! -f "$JOURNALQ_HOME/pom.xml" ]; then
    printf '%s\n' "$JOURNALQ_HOME/lib"
    return
  fi
  # The build keeps one only.
  for journalq_candidate in "$JOURNALQ_HOME"/journalq-dist/target/journalq-*/lib; do
    printf '%s\n' "$journalq_candidate"
    return
  done
}

# Sets journalq_major to the major version of the Java in directory $1; empty when there is none.
# The release file is read rather than asking that Java: it saves starting each one that is installed.
journalq_read_major() {
  journalq_major=
  [ -x "$1/bin/java" ] || return 0
  journalq_version=
  if [ -r "$1/release" ]; then
    while IFS='=' read -r journalq_key journalq_value; do
      if [ "$journalq_key" = JAVA_VERSION ]; then
        journalq_version=${journalq_value#\"}
        journalq_version=${journalq_version%\"*}
      fi
    done <"$1/release"
  fi
  if [ -z "$journalq_version" ]; then
    journalq_version=$("$1/bin/java" -version 2>&1 | sed -n 's/.*version "\([^"]*\)".*/\1/p' | head -n 1)
  fi
  # 1.8.0_412 is 8; 17.0.15 is 17; 25-ea is 25.
  journalq_version=${journalq_version#1.}
  journalq_major=${journalq_version%%[!0-9]*}
}

# Takes the Java in directory $1 when it is better than the best so far: the newest that JournalQ is
# tested with; failing that, one newer still.
journalq_consider() {
  journalq_read_major "$1"
  [ -n "$journalq_major" ] && [ "$journalq_major" -ge "$JOURNALQ_OLDEST_JAVA" ] || return 0
  journalq_rank=$journalq_major
  [ "$journalq_major" -le "$JOURNALQ_NEWEST_JAVA" ] || journalq_rank=1
  if [ "$journalq_rank" -gt "$journalq_best_rank" ]; then
    journalq_best_rank=$journalq_rank
    JOURNALQ_JAVA_HOME=$1
    JOURNALQ_JAVA_MAJOR=$journalq_major
  fi
}

# The directory of the Java that the path finds, symbolic links resolved; empty when there is none.
journalq_java_on_path() {
  journalq_link=$(command -v java) || return 0
  while [ -L "$journalq_link" ]; do
    journalq_target=$(readlink "$journalq_link")
    case $journalq_target in
      /*) journalq_link=$journalq_target ;;
      *) journalq_link=$(dirname -- "$journalq_link")/$journalq_target ;;
    esac
  done
  CDPATH='' cd -- "$(dirname -- "$journalq_link")/.." && pwd -P
}

# Sets JOURNALQ_JAVA_HOME and JOURNALQ_JAVA_MAJOR: JAVA_HOME if it will do, otherwise the newest found.
journalq_find_java() {
  JOURNALQ_JAVA_HOME=
  JOURNALQ_JAVA_MAJOR=0
  journalq_best_rank=0
  if [ -n "${JAVA_HOME:-}" ]; then
    journalq_consider "$JAVA_HOME"
    [ -z "$JOURNALQ_JAVA_HOME" ] || return 0
    printf 'journalq: JAVA_HOME=%s is not a Java %s or newer; looking for another\n' \
      "$JAVA_HOME" "$JOURNALQ_OLDEST_JAVA" >&2
  fi
  # A service of root, for example, has no HOME.
  journalq_user=${HOME:-/root}
  for journalq_candidate in \
    /usr/lib/jvm/* /usr/lib64/jvm/* /usr/java/* /opt/java/* /opt/*jdk* /opt/*java* \
    "$journalq_user"/.sdkman/candidates/java/* "$journalq_user"/.jdks/* "$journalq_user"/.asdf/installs/java/* \
    "$journalq_user"/.local/share/mise/installs/java/* \
    /Library/Java/JavaVirtualMachines/*/Contents/Home /opt/homebrew/opt/openjdk*/libexec/openjdk.jdk/Contents/Home; do
    journalq_consider "$journalq_candidate"
  done
  journalq_major=
  journalq_candidate=$(journalq_java_on_path)
  [ -z "$journalq_candidate" ] || journalq_consider "$journalq_candidate"
  if [ -z "$JOURNALQ_JAVA_HOME" ]; then
    # What was looked at last is the Java of the path.
    journalq_die "no Java $JOURNALQ_OLDEST_JAVA or newer found${journalq_major:+ (that of the path is $journalq_major)};\
 install a JDK, or set JAVA_HOME to one"
  fi
}

# Whether a broker with these arguments has a metadata quorum: a setting of it is among them, in the environment, or in
# the file that they name.
journalq_has_quorum() {
  [ -z "${JOURNALQ_QUORUM_LISTENER:-}" ] || return 0
  for journalq_argument in "$@"; do
    case $journalq_argument in *quorum*) return 0 ;; esac
    journalq_argument=${journalq_argument#--config=}
    if [ -f "$journalq_argument" ] && grep -q '^[^#]*quorum' -- "$journalq_argument"; then
      return 0
    fi
  done
  return 1
}

# Sets journalq_archive to the option with which Java keeps the loaded classes of a broker or takes them from there, and
# journalq_native to the directory where it keeps the unpacked native libraries. Later starts take half the time. The
# first broker that is stopped leaves both beside the jars; other jars or another Java have their own. Both are empty
# if there is no place to write to. $1 is the directory of the jars, and $2 says which of them are on the class path.
journalq_find_archive() {
  journalq_archive=
  journalq_native=
  journalq_cache=$1/cache
  [ -d "$journalq_cache" ] || mkdir "$journalq_cache" 2>/dev/null || return 0
  [ -w "$journalq_cache" ] || return 0
  # shellcheck disable=SC2012 # sizes and times count, not only names
  journalq_key=$(LC_ALL=C ls -ln "$1"/*.jar "$1"/quorum/*.jar "$JOURNALQ_JAVA_HOME/release" 2>/dev/null | cksum) || return 0
  journalq_file=$journalq_cache/$2-$JOURNALQ_JAVA_MAJOR-${journalq_key%% *}.jsa
  journalq_native=$journalq_cache/native-${journalq_key%% *}
  [ -d "$journalq_native" ] || rm -rf "$journalq_cache"/native-*
  # Java writes the first bytes last: without them it was killed while it wrote.
  if [ -f "$journalq_file" ] && [ "$(head -c 4 "$journalq_file" | tr -d '\0' | wc -c)" -eq 4 ]; then
    journalq_archive=-XX:SharedArchiveFile=$journalq_file
  else
    rm -f "$journalq_cache/$2-$JOURNALQ_JAVA_MAJOR"-*.jsa
    journalq_archive=-XX:ArchiveClassesAtExit=$journalq_file
  fi
}

# Replaces the shell by Java: journalq_exec ROLE MAIN-CLASS [ARGUMENT]...
journalq_exec() {
  journalq_role=$1
  journalq_heap=${JOURNALQ_HEAP:-}
  journalq_options=${JOURNALQ_OPTS:-}
  shift
  if [ "$journalq_role" = launcher ]; then
    journalq_role=cli
    journalq_heap=
    journalq_options=
  fi
  journalq_jars=$(journalq_lib)
  if [ ! -d "$journalq_jars" ]; then
    if [ -f "$JOURNALQ_HOME/pom.xml" ]; then
      journalq_die "not built yet; build with: mvn -f $JOURNALQ_HOME/pom.xml -DskipTests package"
    fi
    journalq_die "$journalq_jars is missing; unpack the archive again"
  fi
  journalq_find_java

  journalq_class_path=${JOURNALQ_CLASSPATH:+$JOURNALQ_CLASSPATH:}$journalq_jars/*
  journalq_archived=server
  case $journalq_role in
    server)
      # A broker alone would open the jars of the consensus at each start, although it uses none of their classes.
      if journalq_has_quorum "$@"; then
        journalq_class_path=$journalq_class_path:$journalq_jars/quorum/*
        journalq_archived=voter
      fi
      ;;
    # Tools that measure and test brokers. No broker needs them. Only a checkout has clients of other brokers.
    bench | sim)
      journalq_class_path=$journalq_class_path:$journalq_jars/quorum/*:$journalq_jars/bench/*:$journalq_jars/peers/*
      ;;
  esac
  # The arguments of Java are put before the program's own, last first.
  set -- -cp "$journalq_class_path" "$@"
  if [ -n "$journalq_options" ]; then
    # shellcheck disable=SC2086 # options are separated by spaces on purpose
    set -- $journalq_options "$@"
  fi
  set -- "-Djournalq.home=$JOURNALQ_HOME" -Dfile.encoding=UTF-8 "$@"
  case $journalq_role in
    server)
      journalq_find_archive "$journalq_jars" "$journalq_archived"
      # Java tells of every class that it cannot keep, and of every archive that is of no use: neither is of interest.
      [ -z "$journalq_archive" ] || set -- -Xlog:cds=off -Xlog:cds+dynamic=off "$journalq_archive" \
        "-Djournalq.native=$journalq_native" "$@"
      # New objects get an eighth of the heap, as hardly any outlive an iteration of a loop: see docs/decisions/0016.
      set -- "-Xms${journalq_heap:-512m}" "-Xmx${journalq_heap:-512m}" -XX:NewRatio=7 -XX:+ExitOnOutOfMemoryError \
        "-Dlogback.configurationFile=${JOURNALQ_LOGBACK:-$JOURNALQ_HOME/conf/logback.xml}" "$@"
      ;;
    sim)
      # Buffers on the heap: what a simulated crash leaves lying around is collected.
      set -- "-Xmx${journalq_heap:-512m}" "-Dlogback.configurationFile=$JOURNALQ_HOME/conf/logback-cli.xml" \
        -XX:+UseSerialGC -Dio.netty.noPreferDirect=true \
        -Dio.netty.allocator.numHeapArenas=0 -Dio.netty.allocator.numDirectArenas=0 -Dio.netty.maxDirectMemory=0 "$@"
      ;;
    bench)
      # The pool of messages is walked at thousands of places at once: on small pages much of that is page look-ups.
      [ ! -r /sys/kernel/mm/transparent_hugepage/enabled ] || set -- -XX:+UseTransparentHugePages "$@"
      set -- "-Xmx${journalq_heap:-1g}" "-Dlogback.configurationFile=$JOURNALQ_HOME/conf/logback-cli.xml" "$@"
      ;;
    cli)
      journalq_terminals=
      for journalq_stream in 0 1 2; do
        [ ! -t "$journalq_stream" ] || journalq_terminals=$journalq_terminals$journalq_stream
      done
      set -- "-Xmx${journalq_heap:-256m}" "-Dlogback.configurationFile=$JOURNALQ_HOME/conf/logback-cli.xml" \
        "-Djournalq.terminals=$journalq_terminals" "$@"
      # The collector that starts fastest, unless another is asked for. Nothing that makes a start faster and a long run
      # slower: a command that reads or writes millions of messages wants the best code that Java can make of it.
      case $journalq_options in
        *GC*) ;;
        *) set -- -XX:+UseSerialGC "$@" ;;
      esac
      ;;
    *) journalq_die "journalq_exec: unknown role $journalq_role" ;;
  esac
  # What newer versions offer, and what keeps their warnings about native code from the user.
  [ "$JOURNALQ_JAVA_MAJOR" -lt 23 ] || set -- --sun-misc-unsafe-memory-access=allow "$@"
  [ "$JOURNALQ_JAVA_MAJOR" -lt 24 ] || set -- --enable-native-access=ALL-UNNAMED "$@"
  [ "$JOURNALQ_JAVA_MAJOR" -lt 25 ] || set -- -XX:+UseCompactObjectHeaders "$@"
  exec "$JOURNALQ_JAVA_HOME/bin/java" "$@"
}
