package io.journalq.seal;

import com.sun.management.HotSpotDiagnosticMXBean;
import io.journalq.embedded.EmbeddedBroker;
import io.journalq.embedded.JournalQ;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * A broker in a process of its own, whose heap can be dumped. Arguments: the data directory. Prints its address. Each line
 * that it reads names a file for a heap dump; the end of its input ends it.
 */
public final class DumpableBroker {
    private DumpableBroker() {}

    public static void main(String[] arguments) throws IOException {
        try (EmbeddedBroker broker =
                        JournalQ.embedded().inDirectory(Path.of(arguments[0])).start();
                BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            System.out.println(broker.bootstrapServers());
            HotSpotDiagnosticMXBean diagnostic = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
            for (String file = in.readLine(); file != null; file = in.readLine()) {
                diagnostic.dumpHeap(file, false);
                System.out.println("dumped");
            }
        }
    }
}
