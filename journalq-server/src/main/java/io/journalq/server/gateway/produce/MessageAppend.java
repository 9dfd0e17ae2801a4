package io.journalq.server.gateway.produce;

import io.journalq.server.gateway.http.HttpExchange;
import io.journalq.server.gateway.http.JsonOut;
import io.journalq.server.gateway.problem.Problem;
import io.netty.buffer.ByteBuf;

/** Appends the records of messages. Several can be in flight on a connection. On the loop of the connection. */
public final class MessageAppend {
    private final HttpExchange exchange;
    private final Targets targets;

    /** Receives the result of a message. */
    @FunctionalInterface
    public interface Outcome {
        /**
         * Everything has its result.
         *
         * @param problem null if everything was appended
         * @param appended writes what was appended: {@code records} and {@code offsets}; null if that is nothing, and
         *     there is a problem
         */
        void onDone(Problem problem, JsonOut.Document appended);
    }

    /** @param exchange that of the connection */
    public MessageAppend(HttpExchange exchange, Targets targets) {
        this.exchange = exchange;
        this.targets = targets;
    }

    /**
     * Appends records if all of them are valid.
     *
     * @param json the rest of the message behind the start of the array of records; borrowed
     * @param outcome is not called after an exception
     * @throws io.journalq.server.gateway.problem.ProblemException if a record is invalid or must not be appended
     */
    public void append(String topic, ByteBuf json, Outcome outcome) {
        Targets.Target target = targets.find(exchange, topic);
        RecordSink sink = new RecordSink(exchange, target, owner(outcome));
        try (RecordsParser parser = new RecordsParser(exchange.allocator(), RecordsParser.Form.ARRAY, target, sink)) {
            parser.parse(json);
            parser.end();
            sink.finish(null);
        } finally {
            sink.close();
        }
    }

    /**
     * Appends record batches. Those before an invalid one are appended.
     *
     * @param partition the partition; null for any
     * @param batches borrowed
     * @throws io.journalq.server.gateway.problem.ProblemException if nothing must be appended
     */
    public void appendBatches(String topic, Long partition, ByteBuf batches, Outcome outcome) {
        Targets.Target target = targets.find(exchange, topic);
        RecordSink sink = new RecordSink(exchange, target, owner(outcome));
        BatchBody body = new BatchBody(exchange, target, partition, sink);
        body.onData(batches);
        if (!sink.hasEnded()) {
            body.onEnd();
        }
        body.onClosed();
    }

    /** The connection limits what is in flight. */
    private static RecordSink.Owner owner(Outcome outcome) {
        return new RecordSink.Owner() {
            @Override
            public void setHeld(boolean held) {}

            @Override
            public void onDone(Problem problem, JsonOut.Document appended) {
                outcome.onDone(problem, appended);
            }
        };
    }
}
