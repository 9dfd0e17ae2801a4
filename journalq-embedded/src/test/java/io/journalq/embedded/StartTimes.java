package io.journalq.embedded;

import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * Starts and closes brokers one after the other in this process, and prints how long each start took: the first one with
 * everything that a process loads once, the others without. Nothing else may run before the first.
 */
final class StartTimes {
    private StartTimes() {}

    /** Arguments: {@code memory} or {@code directory}, and how many brokers to start. Prints milliseconds, a start a line. */
    public static void main(String[] arguments) {
        boolean inMemory = arguments[0].equals("memory");
        int starts = Integer.parseInt(arguments[1]);
        for (int i = 0; i < starts; i++) {
            long beginNanos = System.nanoTime();
            EmbeddedBrokerBuilder builder = JournalQ.embedded();
            EmbeddedBroker broker = (inMemory ? builder.inMemory() : builder).start();
            long tookNanos = System.nanoTime() - beginNanos;
            System.out.println(
                    String.format(Locale.ROOT, "%.1f", tookNanos / (double) TimeUnit.MILLISECONDS.toNanos(1)));
            broker.close();
        }
    }
}
