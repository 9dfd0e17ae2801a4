package io.journalq.dist;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code bin/cluster-up} and {@code bin/cluster-down} as users run them: three brokers in processes of their own. */
@Tag("long")
class ClusterScriptsTest {
    private static final Pattern PROCESS = Pattern.compile("process +(\\d+)");
    private static final Pattern BOOTSTRAP = Pattern.compile("export JOURNALQ_BOOTSTRAP=(\\S+)");

    @TempDir
    private Path directory;

    private Path home;
    private Path cluster;

    @BeforeEach
    void unpack() throws IOException, InterruptedException {
        home = UnpackedArchive.in(Files.createDirectory(directory.resolve("home")));
        cluster = directory.resolve("cluster");
    }

    @AfterEach
    void stopWhatIsLeft() {
        ProcessHandle.allProcesses()
                .filter(process -> process.info().commandLine().orElse("").contains(directory.toString()))
                .forEach(ProcessHandle::destroyForcibly);
    }

    private ScriptRun run(Map<String, String> environment, String input, String command, String... arguments)
            throws IOException, InterruptedException {
        List<String> words =
                new ArrayList<>(List.of(home.resolve("bin").resolve(command).toString()));
        words.addAll(List.of(arguments));
        return ScriptRun.withInput(input, directory, environment, words);
    }

    private ScriptRun done(Map<String, String> environment, String input, String command, String... arguments)
            throws IOException, InterruptedException {
        ScriptRun run = run(environment, input, command, arguments);
        assertThat(run.exitCode())
                .as("%s %s: %s%s", command, List.of(arguments), run.out(), run.err())
                .isZero();
        return run;
    }

    @Test
    void shouldKeepMessagesWhenABrokerIsKilledAndTheClusterIsStartedAgain() throws Exception {
        // given
        ScriptRun up = done(Map.of(), "", "cluster-up", "--directory", cluster.toString());
        Matcher bootstrap = BOOTSTRAP.matcher(up.out());
        assertThat(bootstrap.find()).as(up.out()).isTrue();
        assertThat(bootstrap.group(1).split(",")).hasSize(3);
        Map<String, String> environment = Map.of("JOURNALQ_BOOTSTRAP", bootstrap.group(1));
        done(
                environment,
                "",
                "journalq",
                "topics",
                "create",
                "orders",
                "--partitions=3",
                "--replication-factor=3",
                "--config=delivery.mode=eventual");
        done(environment, "one\n", "journalq", "produce", "orders");

        // when a broker is killed
        Matcher process = PROCESS.matcher(up.out());
        assertThat(process.find()).isTrue();
        ProcessHandle.of(Long.parseLong(process.group(1))).orElseThrow().destroyForcibly();

        // then the others serve all partitions
        for (String key : List.of("a", "b", "c", "d")) {
            done(environment, key + ":two\n", "journalq", "produce", "orders", "--key-separator=:");
        }

        // when the cluster is started again
        done(environment, "", "cluster-up", "--directory", cluster.toString());
        ScriptRun described = done(environment, "", "journalq", "cluster", "describe");
        assertThat(described.out()).contains("3 brokers");
        done(environment, "", "cluster-down", "--directory", cluster.toString());
        done(environment, "", "cluster-up", "--directory", cluster.toString());

        // then everything is there
        ScriptRun read =
                done(environment, "", "journalq", "consume", "orders", "--from=beginning", "--until=end", "--count");
        assertThat(read.out()).contains("5 messages");
        done(environment, "", "cluster-down", "--directory", cluster.toString(), "--delete");
        assertThat(cluster).doesNotExist();
    }

    @Test
    void shouldSayWhatIsWrongWhenThereIsNoClusterOrTheNumberOfBrokersDiffers() throws Exception {
        ScriptRun down = run(Map.of(), "", "cluster-down", "--directory", cluster.toString());
        assertThat(down.exitCode()).isEqualTo(1);
        assertThat(down.err()).contains("there is no cluster in " + cluster + "; bin/cluster-up starts one");
        for (String count : List.of("0", "8", "three", "33")) {
            ScriptRun up = run(Map.of(), "", "cluster-up", "--brokers", count, "--directory", cluster.toString());
            assertThat(up.exitCode()).isEqualTo(2);
            assertThat(up.err()).contains("--brokers must be a number from 1 to 7, but is '" + count + "'");
        }
        ScriptRun comma = run(Map.of(), "", "cluster-up", "--directory", cluster + ",2");
        assertThat(comma.exitCode()).isEqualTo(2);
        assertThat(comma.err()).contains("--directory must not contain quotes, backslashes or commas");
        assertThat(cluster).doesNotExist();

        Files.createDirectories(cluster.resolve("broker-1"));
        Files.createFile(cluster.resolve("broker-1/journalq.yaml"));
        ScriptRun up = run(Map.of(), "", "cluster-up", "--brokers=3", "--directory=" + cluster);
        assertThat(up.exitCode()).isEqualTo(1);
        assertThat(up.err()).contains("is 1; to change it, run bin/cluster-down --delete first");
    }
}
