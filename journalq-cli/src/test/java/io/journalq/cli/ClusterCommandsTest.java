package io.journalq.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.client.Admin;
import io.journalq.client.admin.ConfigResource;
import io.journalq.server.broker.Broker;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.ConfigOrigin;
import io.journalq.server.process.LoopbackPorts;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Commands that operate a cluster, against three brokers in this process. */
@Tag("long")
@Timeout(180)
class ClusterCommandsTest {
    private static final int WAIT_SECONDS = 60;

    private final Map<Integer, Integer> ports = new TreeMap<>();
    private final Map<Integer, Integer> quorumPorts = new TreeMap<>();
    private final Map<Integer, Broker> brokers = new TreeMap<>();

    @TempDir
    private Path directory;

    @BeforeEach
    void startThree() throws Exception {
        for (int id = 1; id <= 3; id++) {
            start(id);
        }
    }

    @AfterEach
    void close() {
        brokers.values().forEach(Broker::close);
    }

    private String address(int id) {
        return "127.0.0.1:" + ports.get(id);
    }

    private void start(int id) throws Exception {
        ports.computeIfAbsent(id, none -> LoopbackPorts.next());
        quorumPorts.computeIfAbsent(id, none -> LoopbackPorts.next());
        List<String> others = new ArrayList<>();
        brokers.keySet().forEach(other -> others.add(address(other)));
        Map<String, String> settings = new LinkedHashMap<>();
        settings.put("node.id", Integer.toString(id));
        settings.put("listeners", "PLAINTEXT://" + address(id));
        settings.put("admin.listener", "");
        settings.put("gateway.listener", "");
        settings.put("write.ahead.max.bytes", "1048576");
        settings.put("data.directories", data(id).toString());
        settings.put("quorum.listener", "127.0.0.1:" + quorumPorts.get(id));
        settings.put("cluster.join", String.join(",", others));
        BrokerConfig config = BrokerConfig.defaults();
        for (Map.Entry<String, String> setting : settings.entrySet()) {
            config = config.with(setting.getKey(), setting.getValue(), ConfigOrigin.COMMAND_LINE);
        }
        brokers.put(id, Broker.start(config));
    }

    private Path data(int id) {
        return directory.resolve("broker" + id);
    }

    private void stop(int id) {
        brokers.remove(id).close();
    }

    private void empty(int id) throws IOException {
        try (Stream<Path> files = Files.walk(data(id))) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    private CommandRun run(String command) {
        return runWithInput("", command);
    }

    private CommandRun runWithInput(String input, String command) {
        List<String> words = new ArrayList<>(List.of(command.split(" ")));
        List<String> addresses = new ArrayList<>();
        brokers.keySet().forEach(id -> addresses.add(address(id)));
        words.add("--bootstrap");
        words.add(String.join(",", addresses));
        return CommandRun.journalqWithInput(input, words.toArray(String[]::new));
    }

    private String done(String command) {
        CommandRun run = run(command);
        assertThat(run.exitCode()).as("%s: %s", command, run).isZero();
        return run.out() + run.err();
    }

    private String failed(String command) {
        CommandRun run = run(command);
        assertThat(run.exitCode()).as("%s: %s", command, run).isEqualTo(1);
        return run.err();
    }

    private void produce(int count) {
        String lines = "message\n".repeat(count);
        CommandRun run = runWithInput(lines, "produce orders");
        assertThat(run.exitCode()).as("%s", run).isZero();
    }

    private void assertReadable(int count) {
        assertThat(done("consume orders --from beginning --until end --count")).contains(count + " messages");
    }

    private static void await(String what, Callable<Boolean> condition) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_SECONDS);
        while (!condition.call()) {
            assertThat(System.nanoTime()).as(what).isLessThan(deadline);
            Thread.sleep(50);
        }
    }

    private void awaitInSync() throws Exception {
        await("all replicas are in sync", () -> run("cluster describe").out().contains("all replicas in sync"));
    }

    /** The replicas of partition 0, as the table of the topic shows them. */
    private String replicas() {
        Matcher row = Pattern.compile("(?m)^ +0 +\\S+ +\\d+ +(\\S+)").matcher(done("topics describe orders"));
        assertThat(row.find()).isTrue();
        return row.group(1);
    }

    /** The settings of throttles, of all brokers and the topic. */
    private List<String> throttles() {
        List<String> found = new ArrayList<>();
        try (Admin admin = Admin.builder().bootstrapServers(address(1)).build()) {
            List<ConfigResource> resources = new ArrayList<>(List.of(ConfigResource.topic("orders")));
            brokers.keySet().forEach(id -> resources.add(ConfigResource.broker(id)));
            admin.describeConfigs(resources).forEach((resource, entries) -> entries.stream()
                    .filter(entry -> entry.name().contains("throttled") && !entry.isDefault())
                    .forEach(entry -> found.add(resource + " " + entry.name() + "=" + entry.value())));
        }
        return found;
    }

    @Test
    void shouldKeepAThrottleUntilItIsRemovedWhenNobodyWaits() throws Exception {
        done("topics create orders --replication-factor 1");
        produce(50);
        String other = replicas().equals("1") ? "2" : "1";

        done("cluster reassign orders --to " + other + " --throttle 1MiB --execute --no-wait");
        assertThat(throttles())
                .anyMatch(setting -> setting.contains("leader.replication.throttled.rate=1048576"))
                .anyMatch(setting -> setting.contains("follower.replication.throttled.rate=1048576"))
                .anyMatch(setting -> setting.contains("follower.replication.throttled.replicas=0:" + other));
        await("the end of the move", () -> run("cluster reassign --list").out().contains("No partition moves"));

        assertThat(done("cluster reassign --unthrottle")).contains("Nothing was changed");
        assertThat(run("cluster reassign --unthrottle --output json").out()).contains("\"executed\" : false");
        assertThat(done("cluster reassign --unthrottle --execute"))
                .contains("removed the throttles of all brokers and of 1 topic");
        assertThat(throttles()).isEmpty();
    }

    @Test
    void shouldReportTheFailureOfEachPartition() throws Exception {
        done("topics create orders --partitions 12 --replication-factor 1");
        done("cluster reassign orders --to 3 --execute");
        stop(3);
        await("broker 3 is fenced", () -> run("cluster describe").out().contains("fenced"));

        CommandRun refused = run("cluster elect orders --unclean --execute --accept-loss");

        assertThat(refused.exitCode()).isEqualTo(1);
        assertThat(refused.errLines()).hasSize(11).last().isEqualTo("journalq: and 2 more failures");
        assertThat(refused.err()).contains("journalq: partition orders-0: ", "journalq: partition orders-9: ");
    }

    @Test
    void shouldDrainABrokerThatIsDownWithAThrottle() throws Exception {
        done("topics create orders --replication-factor 2");
        produce(50);
        done("cluster reassign orders --to 1,3 --execute");
        stop(3);
        await("broker 3 is fenced", () -> run("cluster describe").out().contains("fenced"));

        assertThat(done("cluster drain 3 --throttle 50MiB/s --execute"))
                .contains("each broker copies at most 50.0 MiB/s")
                .contains("moved ");
        assertThat(replicas()).doesNotContain("3");
        assertThat(throttles()).isEmpty();
        assertThat(done("cluster reassign --unthrottle --execute"))
                .contains("removed the throttles of the brokers that are live and of 0 topics");
        assertThat(run("cluster reassign --unthrottle --execute").err()).contains("brokers that are down stay (3)");
    }

    @Test
    void shouldDescribeATopicWhenAPartitionHasNoLeader() throws Exception {
        done("topics create orders --partitions 3 --replication-factor 1");
        produce(30);

        stop(3);

        await("a partition without a leader", () -> done("topics describe orders")
                .contains("none"));
        assertThat(done("topics describe orders --output json")).contains("\"endOffset\" : null");
    }

    @Test
    void shouldShowTheLagInTheOtherPartitionsWhenAPartitionHasNoLeader() throws Exception {
        done("topics create orders --partitions 3 --replication-factor 1");
        produce(30);
        done("groups reset-offsets billing --topic orders --to-earliest --execute");

        stop(3);

        await("a partition without a leader", () -> done("topics describe orders")
                .contains("none"));
        await("a coordinator of the group", () -> run("groups describe billing").exitCode() == 0);
        String lag = done("groups lag billing");
        assertThat(lag.lines()).anyMatch(line -> line.matches("orders +\\d +0 +- +- +- +-"));
        assertThat(lag).contains("the lag in 1 partition without a leader is unknown", "Group billing is behind by ");
        assertThat(done("groups lag billing --output json")).contains("\"end\" : null", "\"lag\" : null");
    }

    @Test
    void shouldReplicateMoveDrainRemoveAndReplaceBrokers() throws Exception {
        // given a topic with one replica
        done("topics create orders --partitions 2");
        produce(50);
        done("consume orders --group readers --from beginning --max-messages 50");

        // when it is replicated
        String preview = done("cluster replicate --factor 3 orders");
        assertThat(preview).contains("TO COPY", "2 partitions, ", "Nothing was changed");
        assertThat(replicas()).doesNotContain(",");
        assertThat(done("cluster replicate --factor 3 orders --execute")).contains("moved 2 partitions in ");
        assertThat(replicas().split(",")).containsExactlyInAnyOrder("1", "2", "3");
        assertThat(done("cluster replicate --factor 3 orders")).contains("has 3 replicas already");
        assertThat(failed("cluster replicate --factor 4 orders")).contains("the cluster has 3 live brokers");
        awaitInSync();
        assertThat(done("cluster describe")).containsPattern("3 +\\S+ +- +live");

        // and moved
        assertThat(failed("cluster reassign orders --to 1,2"))
                .contains("has 3 replicas, and --to names 2 brokers")
                .contains("replicate --factor 2 orders");
        assertThat(failed("cluster drain 3")).contains("broker 3 cannot be drained: topic ", " has 3 replicas");
        done("cluster replicate --factor 2 --execute");
        done("cluster replicate --factor 1 orders --execute");
        assertThat(run("cluster reassign orders --to 3 --throttle fast").err()).contains("'fast' is not a rate");
        assertThat(run("cluster reassign --list --throttle 1MiB/s").err()).contains("--throttle is for --to");
        assertThat(done("cluster reassign orders --to 3 --throttle 50MiB/s --execute"))
                .contains("each broker copies at most 50.0 MiB/s")
                .contains("moved ");
        assertThat(throttles()).isEmpty();
        assertThat(replicas()).isEqualTo("3");
        assertThat(done("cluster reassign --list")).contains("No partition moves.");
        assertReadable(50);

        // and drained
        assertThat(failed("cluster remove 3")).contains("broker 3 is running; drain it");
        done("cluster drain 3 --execute");
        assertThat(replicas()).isNotEqualTo("3");
        assertThat(done("cluster drain 3")).contains("Broker 3 has no replicas");
        stop(3);
        await("broker 3 is fenced", () -> run("cluster describe").out().contains("fenced"));
        assertThat(done("cluster remove 3")).contains("Nothing was changed");
        assertThat(done("cluster remove 3 --execute")).contains("removed broker 3");
        assertThat(done("cluster describe")).contains("2 brokers");
        assertThat(done("cluster quorum")).contains("2 voters");
        assertThat(failed("cluster remove 3")).contains("there is no broker 3 in the cluster; its brokers are 1,2");

        // and joins again with its id
        empty(3);
        start(3);
        assertThat(done("cluster describe")).contains("3 brokers");
        assertThat(done("cluster quorum")).contains("3 voters").containsPattern("(?m)^ +3 +follower");
        done("cluster replicate --factor 3 --execute");

        // when its disk is lost
        stop(3);
        empty(3);
        produce(10);
        start(3);

        // then it comes back, and has everything
        awaitInSync();
        assertThat(done("cluster quorum")).contains("3 voters");
        stop(1);
        await("broker 1 is fenced", () -> run("cluster describe").out().contains("fenced"));
        assertReadable(60);
        // The records since the group's position are its lag, as far as the coordinator knows.
        assertThat(done("groups lag readers")).containsPattern("orders +\\d +50 ");
    }

    @Test
    void shouldTakeAVoteAwayFromAStoppedBrokerAndGiveItBackWhenItStarts() throws Exception {
        assertThat(failed("cluster remove-voter 3")).contains("broker 3 is running");
        assertThat(failed("cluster remove-voter 7")).contains("broker 7 does not vote; the voters are 1,2,3");
        stop(3);
        await("broker 3 is fenced", () -> run("cluster describe").out().contains("fenced"));

        // when
        assertThat(done("cluster remove-voter 3")).contains("Nothing was changed");
        assertThat(done("cluster quorum")).contains("3 voters");
        assertThat(done("cluster remove-voter 3 --execute")).contains("removed voter 3 with the directory ");

        // then one of two is a majority no more, and the broker votes again when it is back
        assertThat(done("cluster quorum")).contains("2 voters");
        start(3);
        assertThat(done("cluster quorum")).contains("3 voters");
        await(
                "broker 3 is live",
                () -> run("cluster describe").out().contains("3 brokers")
                        && !run("cluster describe").out().contains("fenced"));

        // and adding it again changes nothing, but not with another directory at another address
        Matcher voter = Pattern.compile("(?m)^ +3 +\\S+ +(\\S{22})").matcher(done("cluster quorum"));
        assertThat(voter.find()).isTrue();
        String listener = "127.0.0.1:" + quorumPorts.get(3);
        assertThat(done("cluster add-voter 3 " + voter.group(1) + " " + listener + " --execute"))
                .contains("added voter 3");
        assertThat(failed("cluster add-voter 3 z-UUZZbJN8hh6N5z7oEyCQ 127.0.0.1:1 --execute"))
                .contains("node id 3 belongs to another voter");
        assertThat(run("cluster add-voter 3 short " + listener).exitCode()).isEqualTo(2);
        assertThat(run("cluster add-voter 3 z-UUZZbJN8hh6N5z7oEyCQ nowhere").err())
                .contains("'nowhere' is not a host");
    }

    @Test
    void shouldCancelAMoveToABrokerThatIsDownAndElectLeaders() throws Exception {
        done("topics create orders --replication-factor 2");
        String before = replicas();
        String other = Stream.of("1", "2", "3")
                .filter(id -> !before.contains(id))
                .findFirst()
                .orElseThrow();
        assertThat(done("cluster elect")).contains("has its preferred leader");

        // when a broker that is down is to get a replica
        String preferred = before.substring(0, 1);
        stop(Integer.parseInt(other));
        await("it is fenced", () -> run("cluster describe").out().contains("fenced"));
        assertThat(failed("cluster reassign orders --to " + preferred + "," + other))
                .contains("broker " + other + " is down");
        start(Integer.parseInt(other));
        done("cluster reassign orders --to " + preferred + "," + other + " --execute --no-wait");
        await("the end of the move", () -> run("cluster reassign --list").out().contains("No partition moves"));
        assertThat(done("cluster reassign --cancel --execute")).contains("cancelled the moves of 0 partitions");

        // when the preferred leader was away
        stop(Integer.parseInt(preferred));
        await("another leader", () -> run("cluster elect").out().contains("LEADER"));
        start(Integer.parseInt(preferred));
        awaitInSync();
        await("an election", () -> run("cluster elect --execute").exitCode() == 0);
        assertThat(done("cluster elect")).contains("has its preferred leader");

        assertThat(run("cluster elect --unclean --execute orders").exitCode()).isEqualTo(2);
        assertThat(done("cluster elect --unclean orders")).contains("has a leader");
    }

    /** The first segment of the only partition that a broker has. */
    private Path firstSegment(int id) throws IOException {
        try (Stream<Path> directories = Files.list(data(id))) {
            return directories
                    .filter(path -> path.getFileName().toString().matches("[A-Za-z0-9_-]{22}-0"))
                    .map(path -> path.resolve("0".repeat(20) + ".log"))
                    .findFirst()
                    .orElseThrow();
        }
    }

    /** Whether a file has this content. While it is replaced, it does not exist. */
    private static boolean hasContent(Path file, byte[] content) throws IOException {
        try {
            return Arrays.equals(Files.readAllBytes(file), content);
        } catch (NoSuchFileException replaced) {
            return false;
        }
    }

    /** Changes one byte of a file. */
    private static void flip(Path file, long position) throws IOException {
        try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
            bytes.seek(position);
            int before = bytes.read();
            bytes.seek(position);
            bytes.write(before ^ 1);
        }
    }

    @Test
    void shouldFindAndHealTheReplicaWithOneChangedByte() throws Exception {
        // given equal replicas of several segments
        done("topics create orders --replication-factor 3 --config segment.bytes=1024 --config delivery.mode=eventual");
        for (int i = 0; i < 5; i++) {
            produce(50);
        }
        awaitInSync();
        assertThat(done("cluster verify")).containsPattern("verified 1 partition, 3 replicas, \\d.* KiB");
        assertThat(done("cluster verify orders:0 --output json")).contains("\"findings\" : [ ]");

        // when a byte changes on a follower
        String ids = replicas();
        int leader = Integer.parseInt(ids.substring(0, 1));
        int follower = Integer.parseInt(ids.substring(ids.length() - 1));
        byte[] healthy = Files.readAllBytes(firstSegment(follower));
        flip(firstSegment(follower), 100);

        // then that one is named, and heals
        CommandRun run = run("cluster verify orders");
        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.out()).contains("orders:0 on broker " + follower + ": offsets 0 to 49 are damaged");
        assertThat(run.err()).contains("1 finding; see");
        await("the follower has healed", () -> hasContent(firstSegment(follower), healthy));
        done("cluster verify orders");

        // when a byte changes on the leader, and consumers read it
        flip(firstSegment(leader), 100);
        assertReadable(250);

        // then it has healed
        await("the leader has healed", () -> hasContent(firstSegment(leader), healthy));
        done("cluster verify orders");

        // when a replica is away
        stop(follower);
        await("it is fenced", () -> run("cluster describe").out().contains("fenced"));
        assertThat(run("cluster verify orders").out())
                .contains("orders:0 on broker " + follower + ": not verified: the broker is down");
        assertThat(run("cluster verify --rate 0").exitCode()).isEqualTo(2);
    }
}
