package io.journalq.server.gateway.confluent;

import io.journalq.server.gateway.http.HttpExchange;
import io.journalq.server.gateway.http.JsonOut;
import io.journalq.server.gateway.problem.Problem;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.Map;
import java.util.function.Consumer;

/**
 * One request to a {@link ConsumerInstance}, and its response. The instance may be on another loop than the connection of
 * the request. On the loop of the instance, except {@link #isEnded}.
 */
final class ConsumerCall {
    private final HttpExchange exchange;
    private final ConsumerInstance instance;
    private Runnable onClientLeft = () -> {};
    private volatile boolean ended;

    ConsumerCall(HttpExchange exchange, ConsumerInstance instance) {
        this.exchange = exchange;
        this.instance = instance;
    }

    /** Whether its response is on its way, or nobody waits for one. Any thread. */
    boolean isEnded() {
        return ended;
    }

    /** Sets what is done if the client leaves before it has a response. */
    void whenClientLeaves(Runnable work) {
        onClientLeft = work;
    }

    /** The client has left. */
    void onClientLeft() {
        if (!ended) {
            onClientLeft.run();
        }
    }

    /** Ends it without a response, because the client has left. */
    void abandon() {
        if (!ended) {
            ended = true;
            instance.finished(this);
        }
    }

    /** Responds without content. */
    void done() {
        end(() -> exchange.respond(HttpResponseStatus.NO_CONTENT, MediaTypes.V2, Unpooled.EMPTY_BUFFER, Map.of()));
    }

    /** Responds with an object. */
    void respond(JsonOut.Document members) {
        end(() -> exchange.respond(
                HttpResponseStatus.OK, MediaTypes.V2, JsonOut.object(exchange.allocator(), members), Map.of()));
    }

    void fail(Problem problem) {
        end(() -> exchange.fail(problem));
    }

    private void end(Runnable send) {
        if (ended) {
            return;
        }
        ended = true;
        exchange.later(() -> {
            try {
                send.run();
            } finally {
                instance.run(() -> instance.finished(this));
            }
        });
    }

    /**
     * Responds with records.
     *
     * @param document their array. Takes ownership of it
     * @param onSent receives whether the client was there. If not, it has none of the records
     */
    void respond(ByteBuf document, String type, int records, Consumer<Boolean> onSent) {
        if (ended) {
            document.release();
            return;
        }
        ended = true;
        exchange.later(() -> {
            boolean sent = !exchange.isClosed();
            if (sent) {
                exchange.counters().onRead(records);
                exchange.charge(document.readableBytes());
                exchange.beginStream(type);
                exchange.stream(document);
                exchange.endStream();
            } else {
                document.release();
            }
            instance.run(() -> {
                onSent.accept(sent);
                instance.finished(this);
            });
        });
    }
}
