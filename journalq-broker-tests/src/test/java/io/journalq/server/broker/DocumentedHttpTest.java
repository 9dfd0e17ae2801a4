package io.journalq.server.broker;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Runs every example of the guides to HTTP as it stands there, and compares its output. */
@Timeout(120)
class DocumentedHttpTest {
    private static final Path GUIDES = Path.of("..", "docs", "guides");
    private static final Pattern EXAMPLE =
            Pattern.compile("```sh\\n(.*?)```\\n\\n```(?:json|text)\\n(.*?)```", Pattern.DOTALL);
    private static final String TIMESTAMP = "\"timestamp\":\\d+";

    @TempDir
    private Path directory;

    @ParameterizedTest
    @CsvSource({"http.md, orders, 11", "http-confluent.md, orders, 10", "http-operations.md, , 6"})
    void shouldPrintWhatTheGuideSaysWhenItsExamplesRun(String guide, String topic, int examples) throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/curl")), "apt-get install curl");
        try (TestBroker broker = new TestBroker(directory)
                .with("gateway.listener", "127.0.0.1:0")
                .start()) {
            if (topic != null) {
                broker.createTopic(topic, 1, Map.of());
            }
            Matcher example = EXAMPLE.matcher(Files.readString(GUIDES.resolve(guide)));
            int run = 0;
            while (example.find()) {
                run++;
                String address = "127.0.0.1:" + broker.gatewayPort();
                String command = example.group(1).replace("localhost:8082", address);
                Process shell = new ProcessBuilder("sh", "-c", command)
                        .redirectErrorStream(true)
                        .start();
                String output = new String(shell.getInputStream().readAllBytes(), UTF_8);
                assertThat(shell.waitFor(20, TimeUnit.SECONDS)).isTrue();
                assertThat(masked(output))
                        .as(command)
                        .isEqualTo(masked(example.group(2).replace("localhost:8082", address)));
            }
            assertThat(run).isEqualTo(examples);
        }
    }

    private static String masked(String text) {
        return text.replaceAll(TIMESTAMP, "\"timestamp\":0").replaceAll("\"cluster_id\":\"[^\"]*\"", "");
    }
}
