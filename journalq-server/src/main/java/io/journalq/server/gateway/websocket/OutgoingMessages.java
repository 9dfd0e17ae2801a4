package io.journalq.server.gateway.websocket;

import io.journalq.server.gateway.http.HttpExchange;
import io.journalq.server.gateway.http.JsonOut;
import io.journalq.server.gateway.problem.Problem;
import io.netty.buffer.ByteBuf;

/** Sends messages that are JSON objects. On the connection's loop. */
record OutgoingMessages(HttpExchange exchange) {
    private static final int FIRST_OBJECT_BYTES = 256;

    void send(String type, JsonOut.Document members) {
        ByteBuf frame = WebSocketFrames.begin(exchange.allocator().buffer(FIRST_OBJECT_BYTES));
        JsonOut.write(frame, json -> {
            json.writeStringField("type", type);
            members.write(json);
        });
        exchange.sendBytes(WebSocketFrames.end(frame, WebSocketFrames.TEXT, 0));
    }

    /**
     * A message was refused, or a subscription has ended.
     *
     * @param members such as the id of the message
     */
    void sendError(JsonOut.Document members, Problem problem) {
        send("error", json -> {
            members.write(json);
            json.writeObjectFieldStart("problem");
            problem.writeMembers(json);
            json.writeEndObject();
        });
    }

    /** The same, about a topic. */
    void sendError(JsonOut.Document id, String topic, Problem problem) {
        sendError(
                json -> {
                    id.write(json);
                    json.writeStringField("topic", topic);
                },
                problem);
    }
}
