package io.journalq.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class SimMainTest {
    private final StringWriter err = new StringWriter();

    @ParameterizedTest
    @CsvSource({
        "--seeds=0, --seeds must be 1 or more",
        "--seeds=-5, --seeds must be 1 or more",
        "--parallel=0, --parallel must be 1 or more",
        "--brokers=2, --brokers must be 1",
        "--duration=0s, '0s' is out of range",
        "--duration=999999999999d, '999999999999d' is out of range",
        "--duration=5, '5' is not a duration",
        "--seed=first, 'first' is not a long",
        "--cycles=1, Unknown option: '--cycles=1'"
    })
    void shouldExitWithTwoAndOneLineWhenAValueIsWrong(String argument, String reason) {
        // when
        int exitCode = SimMain.commandLine().setErr(new PrintWriter(err, true)).execute(argument);

        // then
        assertThat(exitCode).isEqualTo(2);
        assertThat(err.toString().lines()).singleElement().satisfies(line -> assertThat(line)
                .startsWith("journalq-sim: ")
                .contains(reason)
                .endsWith("; see 'journalq-sim --help'"));
    }

    @Test
    void shouldReplayASeedInTheWayThatFoundTheViolation() {
        assertThat(SimMain.replay(1, false, 7)).isEqualTo("bin/journalq-sim --seed 7");
        assertThat(SimMain.replay(3, false, 7)).isEqualTo("bin/journalq-sim --brokers 3 --seed 7");
        assertThat(SimMain.replay(1, true, 7)).isEqualTo("bin/journalq-sim --twice --seed 7");
    }

    @Test
    void shouldFitEightyColumnsWhenAskedForHelp() {
        String help = SimMain.commandLine().getUsageMessage(CommandLine.Help.Ansi.OFF);

        assertThat(help.lines()).allMatch(line -> line.length() <= 80);
    }
}
