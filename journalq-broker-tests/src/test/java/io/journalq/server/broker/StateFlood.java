package io.journalq.server.broker;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.memory.StatePart;
import java.io.Closeable;
import java.io.IOException;
import java.util.List;

/**
 * Requests of one API that leave state behind, and the bound on this state.
 *
 * @param part of the budget to which the state is charged
 * @param shortBoundBytes bound of that part in a short run: small enough to be reached in a second or two
 * @param refusal the error at the bound; NONE if only the metrics show it
 * @param bounds samples of the metrics page; at the bound, one of them grows
 * @param setup prepares the flood
 * @param step one step of one connection
 */
record StateFlood(
        StatePart part, long shortBoundBytes, ErrorCode refusal, List<String> bounds, Setup setup, Step step) {

    /** Runs once, before the flood. */
    interface Setup {
        Setup NOTHING = client -> {};

        void run(WireClient client) throws IOException;
    }

    /** Runs repeatedly. */
    interface Step extends Closeable {
        /**
         * Sends requests and reads their responses.
         *
         * @param number unique number of the step
         * @return the first error; NONE if all requests succeeded
         */
        ErrorCode run(WireClient client, int number) throws IOException;

        /** The flood has ended: closes the connections that the steps left open. */
        @Override
        default void close() throws IOException {}
    }

    /** A flood that is bounded by a part of the budget. */
    static StateFlood of(StatePart part, long shortBoundBytes, ErrorCode refusal, Step step) {
        return of(part, shortBoundBytes, refusal, Setup.NOTHING, step);
    }

    static StateFlood of(StatePart part, long shortBoundBytes, ErrorCode refusal, Setup setup, Step step) {
        return new StateFlood(part, shortBoundBytes, refusal, List.of(limit(part.setting())), setup, step);
    }

    /** The same with a second bound. Whichever bound is reached first ends the flood. */
    StateFlood orAt(String sample) {
        return new StateFlood(part, shortBoundBytes, refusal, List.of(bounds.get(0), sample), setup, step);
    }

    /** The sample that counts violations of a limit. */
    static String limit(String name) {
        return "journalq_limits_reached_total{limit=\"" + name + "\"}";
    }
}
