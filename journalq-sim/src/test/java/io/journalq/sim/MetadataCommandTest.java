package io.journalq.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.sim.metadata.MetadataPlan;
import io.journalq.sim.metadata.MetadataResult;
import io.journalq.sim.metadata.MetadataResult.Spread;
import io.journalq.sim.metadata.StepCost;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Simulates the metadata of a cluster in every build. For more, see {@code bin/journalq-sim metadata --help}. */
class MetadataCommandTest {
    private static final int SMALL_PARTITIONS = 2_000;
    private static final int LARGE_PARTITIONS = 100_000;

    private static MetadataPlan tiny(long seed) {
        return new MetadataPlan(8, 4, 100, 1, seed);
    }

    private static MetadataResult run(MetadataPlan plan) throws IOException {
        MetadataResult result = MetadataCommand.run(plan);
        assertThat(result.violations())
                .as("replay with: %s", MetadataCommand.replay(plan))
                .isEmpty();
        return result;
    }

    private static StepCost step(MetadataResult result, String name) {
        return result.steps().stream()
                .filter(step -> step.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void shouldKeepEveryPromiseWhenBrokersComeAndGo() throws IOException {
        MetadataResult result = run(new MetadataPlan(20, 5, SMALL_PARTITIONS, 2, 1));

        // The run was not empty.
        assertThat(step(result, "create the topics").changes()).isEqualTo(SMALL_PARTITIONS);
        assertThat(step(result, "crash of a broker").changes()).isBetween(200, 400);
        assertThat(step(result, "crash of a rack").changes()).isBetween(1_000, 2_000);
        assertThat(step(result, "crash of the controller and others").changes()).isGreaterThan(500);
        assertThat(step(result, "preferred leaders").changes()).isGreaterThan(50);
        assertThat(step(result, "its replicas move").changes())
                .as("each joins, and each old one leaves")
                .isBetween(400, 800);
        assertThat(result.snapshot().bytes()).isGreaterThan(20L * SMALL_PARTITIONS);
    }

    @Test
    void shouldRepeatARunWhenItsSeedIsRepeated() throws IOException {
        long hash = run(tiny(3)).hash();

        assertThat(run(tiny(3)).hash()).isEqualTo(hash);
        assertThat(run(tiny(4)).hash()).isNotEqualTo(hash);
    }

    @Test
    @Tag("long")
    void shouldKeepEveryPromiseWhenAHundredBrokersHaveAHundredThousandPartitions() throws IOException {
        MetadataResult result = run(new MetadataPlan(100, 10, LARGE_PARTITIONS, 2, 1));

        assertThat(step(result, "create the topics").changes()).isEqualTo(LARGE_PARTITIONS);
        assertThat(step(result, "crash of a rack").changes()).isBetween(29_000, 31_000);
        Spread placed = result.spreads().get(0);
        assertThat(placed.fewestLeaders()).isLessThanOrEqualTo(1_000);
        assertThat(placed.mostLeaders()).isBetween(1_000, 1_100);
    }

    @ParameterizedTest
    @CsvSource({
        "--partitions=0, --partitions must be 1 or more",
        "--racks=3, --racks must be 4 or more",
        "--brokers=101, --brokers must be a multiple of --racks",
        "--brokers=10, --brokers must be a multiple of --racks",
        "--observers=98, --observers must be 0 or more",
        "--seeds=5, Unknown option: '--seeds=5'"
    })
    void shouldExitWithTwoAndOneLineWhenAValueIsWrong(String argument, String reason) {
        StringWriter err = new StringWriter();

        int exitCode = SimMain.commandLine().setErr(new PrintWriter(err, true)).execute("metadata", argument);

        assertThat(exitCode).isEqualTo(2);
        assertThat(err.toString().lines())
                .singleElement()
                .satisfies(line -> assertThat(line).startsWith("journalq-sim: ").contains(reason));
    }

    @Test
    void shouldPrintTheCostOfEachStepWhenNoPromiseIsBroken() {
        StringWriter out = new StringWriter();

        int exitCode = SimMain.commandLine()
                .setOut(new PrintWriter(out, true))
                .execute("metadata", "--brokers=8", "--racks=4", "--partitions=100", "--observers=0", "--seed=9");

        assertThat(exitCode).isZero();
        assertThat(out.toString())
                .startsWith("seed 9: 8 brokers in 4 racks, 100 partitions")
                .contains("crash of a rack")
                .contains("snapshot: ")
                .doesNotContain("VIOLATION", "replay with");
    }
}
