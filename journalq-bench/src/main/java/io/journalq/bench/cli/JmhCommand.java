package io.journalq.bench.cli;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.openjdk.jmh.Main;
import picocli.CommandLine.Command;
import picocli.CommandLine.Unmatched;

/** {@code journalq-bench jmh}: the micro-benchmarks. What follows goes to JMH as it is. */
@Command(
        name = "jmh",
        description = {
            "Runs micro-benchmarks by JMH: batches, buffers, lz4, checksums, journal appends, protocol decoding.",
            "Options and patterns are JMH's own: jmh -l lists the benchmarks, jmh -h explains the options."
        })
final class JmhCommand implements Callable<Integer> {
    @Unmatched
    private List<String> arguments = new ArrayList<>();

    @Override
    public Integer call() throws IOException {
        Main.main(arguments.toArray(String[]::new));
        return 0;
    }
}
