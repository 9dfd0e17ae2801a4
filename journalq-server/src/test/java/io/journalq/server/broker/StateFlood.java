package io.journalq.server.broker;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.memory.StatePart;
import java.io.Closeable;
import java.io.IOException;
import java.util.List;

/**
 * Requests of one API that leave state behind, and how the broker bounds it.
 *
 * @param part of the budget, which the state is charged to
 * @param shortBoundBytes bound of that part in a short run: so little that a second or two is enough to reach it
 * @param refusal what the bound is answered with; NONE if it shows in the metrics alone
 * @param bounds samples of the metrics page; at the bound, one of them grows
 * @param setup what has to be there first
 * @param step one step of one connection
 */
record StateFlood(
        StatePart part, long shortBoundBytes, ErrorCode refusal, List<String> bounds, Setup setup, Step step) {

    /** Run once, before the flood. */
    interface Setup {
        Setup NOTHING = client -> {};

        void run(WireClient client) throws IOException;
    }

    /** Run again and again. */
    interface Step extends Closeable {
        /**
         * Sends requests and reads their responses.
         *
         * @param number which no other step has
         * @return the first error; NONE if everything was taken
         */
        ErrorCode run(WireClient client, int number) throws IOException;

        /** The flood is over: closes what the steps left open. */
        @Override
        default void close() throws IOException {}
    }

    /** One whose bound is that of a part of the budget. */
    static StateFlood of(StatePart part, long shortBoundBytes, ErrorCode refusal, Step step) {
        return of(part, shortBoundBytes, refusal, Setup.NOTHING, step);
    }

    static StateFlood of(StatePart part, long shortBoundBytes, ErrorCode refusal, Setup setup, Step step) {
        return new StateFlood(part, shortBoundBytes, refusal, List.of(limit(part.setting())), setup, step);
    }

    /** The same, bounded by something else too, whichever is reached first. */
    StateFlood orAt(String sample) {
        return new StateFlood(part, shortBoundBytes, refusal, List.of(bounds.get(0), sample), setup, step);
    }

    /** The sample that counts what goes beyond a limit. */
    static String limit(String name) {
        return "journalq_limits_reached_total{limit=\"" + name + "\"}";
    }
}
