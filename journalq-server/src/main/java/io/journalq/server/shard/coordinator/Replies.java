package io.journalq.server.shard.coordinator;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.coordinator.Reply;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The replies of one machine. Each reply is held until the records that were appended before it are safe. If the
 * machine is lost, all unsent replies fail. On the loop of the machine's host.
 */
public final class Replies {
    private final Set<HeldReply<?>> open = new LinkedHashSet<>();
    private final ArrayDeque<HeldReply<?>> held = new ArrayDeque<>();
    private long appended;
    private long safe;

    Replies() {}

    /**
     * Creates a reply.
     *
     * @param send receives the result, on the host's loop
     * @param fail receives the reason if there will be no result, on the host's loop
     */
    public <T> Reply<T> to(Consumer<T> send, Consumer<ErrorCode> fail) {
        HeldReply<T> reply = new HeldReply<>(send, fail);
        open.add(reply);
        return reply;
    }

    /** Makes all later replies wait for one more append; returns its number. */
    long onAppended() {
        return ++appended;
    }

    /** Sends the replies up to an append, which is safe. */
    void onSafe(long number) {
        safe = number;
        for (HeldReply<?> next = held.peek(); next != null && next.waitsFor <= safe; next = held.peek()) {
            held.poll().deliver();
        }
    }

    /** Fails all unsent replies. */
    void failAll(ErrorCode error) {
        held.clear();
        for (Iterator<HeldReply<?>> replies = open.iterator(); replies.hasNext(); ) {
            HeldReply<?> reply = replies.next();
            replies.remove();
            reply.decided = true;
            reply.fail.accept(error);
        }
    }

    private final class HeldReply<T> implements Reply<T> {
        private final Consumer<T> send;
        private final Consumer<ErrorCode> fail;
        private T response;
        private long waitsFor;
        private boolean decided;

        HeldReply(Consumer<T> send, Consumer<ErrorCode> fail) {
            this.send = send;
            this.fail = fail;
        }

        @Override
        public void send(T ownResponse) {
            if (decided) {
                return;
            }
            decided = true;
            response = ownResponse;
            waitsFor = appended;
            if (waitsFor <= safe) {
                deliver();
            } else {
                held.add(this);
            }
        }

        @Override
        public void fail(ErrorCode error) {
            if (!decided) {
                decided = true;
                open.remove(this);
                fail.accept(error);
            }
        }

        void deliver() {
            open.remove(this);
            send.accept(response);
        }
    }
}
