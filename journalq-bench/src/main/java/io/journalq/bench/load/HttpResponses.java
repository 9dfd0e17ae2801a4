package io.journalq.bench.load;

import io.journalq.bench.BenchException;
import java.nio.ByteBuffer;
import java.util.Locale;

/** Responses of the HTTP gateway. One that is not 200 ends the load. Stateless. */
final class HttpResponses implements Responses {
    private static final String LENGTH = "content-length: ";

    @Override
    public boolean isComplete(ByteBuffer in) {
        int headBytes = Responses.headBytes(in);
        if (headBytes < 0) {
            return false;
        }
        String head = Responses.text(in, headBytes);
        int length = head.toLowerCase(Locale.ROOT).indexOf(LENGTH);
        int lengthEnd = head.indexOf('\r', length);
        int bodyBytes = Integer.parseInt(head.substring(length + LENGTH.length(), lengthEnd));
        if (in.position() < headBytes + bodyBytes) {
            return false;
        }
        if (!head.startsWith("HTTP/1.1 200 ")) {
            throw new BenchException(
                    "the gateway refused a request: " + Responses.text(in, in.position()), "see the broker's log");
        }
        in.clear();
        return true;
    }
}
