package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.ConfigOrigin;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A broker without a gateway pays nothing for it. */
@Timeout(120)
class GatewayOffTest {
    @TempDir
    private Path directory;

    /** Starts a broker and closes it. Arguments: its data directory, and the value of {@code gateway.listener}. */
    public static final class OneStart {
        private OneStart() {}

        public static void main(String[] arguments) throws Exception {
            BrokerConfig config = BrokerConfig.defaults()
                    .with("listeners", "PLAINTEXT://127.0.0.1:0", ConfigOrigin.COMMAND_LINE)
                    .with("admin.listener", "127.0.0.1:0", ConfigOrigin.COMMAND_LINE)
                    .with("write.ahead.max.bytes", "1048576", ConfigOrigin.COMMAND_LINE)
                    .with("data.directories", arguments[0], ConfigOrigin.COMMAND_LINE);
            config = config.with("gateway.listener", arguments[1], ConfigOrigin.COMMAND_LINE);
            Broker.start(config).close();
        }
    }

    @ParameterizedTest
    @CsvSource({"'', false", "127.0.0.1:0, true"})
    void shouldLoadClassesOfTheGatewayOnlyWhenThereIsOne(String listener, boolean loaded) throws Exception {
        Path classes = directory.resolve("classes.txt");
        ProcessBuilder java = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Xlog:class+load:file=" + classes,
                "-cp",
                System.getProperty("java.class.path"),
                OneStart.class.getName(),
                directory.resolve("data").toString(),
                listener);
        Process process = java.inheritIO().start();

        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).isZero();
        String names = Files.readString(classes);
        assertThat(names).contains("io.journalq.server.observe.AdminListener");
        assertThat(names.contains("io.journalq.server.gateway.")).isEqualTo(loaded);
        assertThat(names.contains("io.journalq.server.broker.GatewaySetup")).isEqualTo(loaded);
    }
}
