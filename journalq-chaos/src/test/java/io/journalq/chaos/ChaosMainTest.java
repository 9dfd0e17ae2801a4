package io.journalq.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class ChaosMainTest {
    private final StringWriter err = new StringWriter();

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--cycles=-1 | --cycles must be more than 0",
                "--cycles=0 | --cycles must be more than 0",
                "--check-every=0 | --check-every must be more than 0",
                "--mode=strict | 'strict' for delivery.mode: must be one of",
                "--faults=earthquake | one of",
                "--duration=0s | '0s' is out of range",
                "--pause=2 | '2' is not a duration",
                "cluster --cycles=0 | --cycles must be more than 0",
                "cluster --faults-per-cycle=0 | --faults-per-cycle must be more than 0",
                "cluster --brokers=2 | --brokers must be from 3 to 7",
                "cluster --mode=strict | 'strict' for delivery.mode: must be one of",
                "cluster --faults=earthquake | one of",
                "failover --rounds=0 | --rounds must be more than 0",
                "failover --rate=0 | --rate must be more than 0",
                "failover --brokers=8 | --brokers must be from 3 to 7",
                "failover --mode=strict | 'strict' for delivery.mode: must be one of",
                "failover --faults=earthquake | one of",
                "failover --partitions=2 | --partitions must be at least --brokers",
                "failover --idle-partitions=-1 | --idle-partitions must be 0 or more",
                "failover --idle-partitions=2 --partitions=2 | --idle-partitions must be 0, or at least --brokers",
                "failover --client=nothing | NAME=COMMAND",
                "soak --duration=0s | '0s' is out of range",
                "soak --rate=0 | --rate must be more than 0",
                "soak --sample-interval=soon | 'soon' is not a duration",
                "hostile --rounds=0 | --rounds must be more than 0",
                "hostile --rate=-1 | --rate must be more than 0",
                "hostile --factor=0 | --factor must be more than 0",
                "hostile --counts=NaN | --counts must be more than 0",
                "hostile --set=nosuch=1 | Unknown setting 'nosuch'",
                "hostile --loads=nosuch | one of",
            })
    void shouldExitWithTwoAndOneLineAndCreateNothingWhenAValueIsWrong(String arguments, String reason)
            throws IOException {
        // given
        long before = countDirectories();

        // when
        int exitCode =
                ChaosMain.commandLine().setErr(new PrintWriter(err, true)).execute(arguments.split(" ", -1));

        // then
        assertThat(exitCode).isEqualTo(2);
        assertThat(err.toString().lines()).singleElement().satisfies(line -> assertThat(line)
                .startsWith("journalq-chaos: ")
                .contains(reason)
                .endsWith("--help'"));
        assertThat(countDirectories()).isEqualTo(before);
    }

    private static long countDirectories() throws IOException {
        try (Stream<Path> files = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
            return files.filter(
                            file -> file.getFileName().toString().matches("journalq-(chaos|failover|soak|hostile)\\d+"))
                    .count();
        }
    }

    @Test
    void shouldFitEightyColumnsWhenAskedForHelp() {
        CommandLine program = ChaosMain.commandLine();

        assertThat(Stream.concat(Stream.of(program), program.getSubcommands().values().stream()))
                .allSatisfy(command -> assertThat(command.getUsageMessage(CommandLine.Help.Ansi.OFF)
                                .lines())
                        .allMatch(line -> line.length() <= 80));
    }
}
