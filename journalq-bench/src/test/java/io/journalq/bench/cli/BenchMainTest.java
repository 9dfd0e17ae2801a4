package io.journalq.bench.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.TypeConversionException;

class BenchMainTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int run(String... arguments) {
        CommandLine commandLine = BenchMain.commandLine();
        commandLine.setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
        return commandLine.execute(arguments);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "produce",
                "compare",
                "sweep",
                "broker-load",
                "live",
                "latency",
                "matrix",
                "pub",
                "sub",
                "transfer",
                "partitions",
                "backlog",
                "profile",
                "report"
            })
    void shouldExplainItselfWhenAskedForHelp(String command) {
        int exitCode = command.isEmpty() ? run("--help") : run(command, "--help");

        assertThat(exitCode).isZero();
        assertThat(out.toString()).contains("Usage: journalq-bench").contains("--help");
    }

    @ParameterizedTest
    @CsvSource({
        "prodcue, --case",
        "produce, --unknown",
        "produce, --duration=soon",
        "produce, --output=xml",
        "produce, --threads=many",
        "produce, --client-setting=linger",
        "sweep, --cases"
    })
    void shouldExitWithTwoWhenItIsCalledWrongly(String command, String argument) {
        assertThat(run(command, argument)).isEqualTo(2);
        assertThat(err.toString()).isNotBlank();
    }

    @Test
    void shouldExitWithTwoWhenNoCommandIsGiven() {
        assertThat(run()).isEqualTo(2);
        assertThat(err.toString()).contains("say what to measure");
    }

    @ParameterizedTest
    @CsvSource({
        "--case=5, give 1; 2; 3; 4 or all",
        "--partitions=0, give a number from 1 up",
        "--consumers=-1, give a number from 1 up",
        "--rate=-5, give messages a second",
        "--in-flight=0, give a number from 1 up",
        "--payload=prose, use text; random; json or file:PATH",
        "--message-size=3, give 16 to 900000 bytes",
        "--broker=nats, use journalq or kafka",
        "--client=sarama, use journalq or kafka-clients"
    })
    void shouldSayInOneLineWhatToDoWhenAValueIsWrong(String argument, String remedy) {
        assertThat(run("produce", argument)).isEqualTo(1);
        assertThat(err.toString().lines()).hasSize(1);
        assertThat(err.toString()).startsWith("journalq-bench: ").contains(remedy.replace(';', ','));
    }

    @ParameterizedTest
    @CsvSource({
        "--peers=nats, use --peers kafka",
        "--repetitions=0, give a number from 1 up",
        "--callers=green, use best; platform or virtual"
    })
    void shouldSayInOneLineWhatToDoWhenAComparisonIsWrong(String argument, String remedy) {
        assertThat(run("compare", argument)).isEqualTo(1);
        assertThat(err.toString().lines()).hasSize(1);
        assertThat(err.toString()).contains(remedy.replace(';', ','));
    }

    @ParameterizedTest
    @CsvSource({"500ms, 500", "10s, 10000", "5m, 300000", "1h, 3600000", "7, 7000"})
    void shouldReadDurations(String text, long expectedMs) {
        assertThat(Durations.parse(text)).isEqualTo(Duration.ofMillis(expectedMs));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "-1s", "1.5s", "10d", "s", "99999999999s"})
    void shouldRejectWhatIsNoDuration(String text) {
        assertThatThrownBy(() -> Durations.parse(text))
                .isInstanceOf(TypeConversionException.class)
                .hasMessageContaining("write it as 500ms, 10s, 5m or 1h");
    }
}
