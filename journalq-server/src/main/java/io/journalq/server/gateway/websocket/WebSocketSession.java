package io.journalq.server.gateway.websocket;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.journalq.server.gateway.http.HttpExchange;
import io.journalq.server.gateway.http.JsonOut;
import io.journalq.server.gateway.http.UpgradedBody;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemException;
import io.journalq.server.gateway.produce.MessageAppend;
import io.journalq.server.gateway.produce.Targets;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.network.FairScheduler;
import io.journalq.server.network.FrameReservation;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/**
 * One WebSocket: reads the messages of its client, and appends its records. {@link Subscriptions} sends it others. In {@code
 * journalq.json.v1}, all messages are texts. In {@code journalq.batch.v1}, records are in binary messages: an object, the
 * end of its line, and record batches.
 *
 * <p>A client gets records while it has credit, and reads what it gets. The socket is not read while too many appended
 * records have no response, while a message waits for memory, and while the client does not read. On the connection's
 * loop.
 */
final class WebSocketSession implements UpgradedBody, MessageAssembler.Listener {
    private static final String JSON_PROTOCOL = "journalq.json.v1";
    private static final String BATCH_PROTOCOL = "journalq.batch.v1";

    /** The subprotocols, in the order of the broker's preference. */
    static final List<String> PROTOCOLS = List.of(JSON_PROTOCOL, BATCH_PROTOCOL);

    /** Messages above this size reserve memory, for themselves and for the batches that they become. */
    private static final int MAX_FREE_BYTES = 16 * 1024;

    /** Appended messages without a response, and the size of those that have reserved no memory. */
    private static final int MAX_IN_FLIGHT = 256;

    private static final int MAX_IN_FLIGHT_BYTES = 64 * 1024;

    private static final int MAX_HEADER_LINE_BYTES = 1024;
    private static final int MAX_REASON_BYTES = 123;
    private static final int FIRST_CLOSE_BYTES = 128;

    /** Times in seconds without a byte of the client: until it gets a ping, and until the connection ends. */
    private static final int PING_S = 15;

    private static final int SILENCE_S = 60;

    /** A message must arrive at 1 KiB/s, at least in one of these seconds. */
    private static final int MAX_SLOW_S = 5;

    private static final int MIN_BYTES_PER_S = 1024;

    private final HttpExchange exchange;
    private final Map<String, String> headers;
    private final boolean batches;
    private final MessageAppend append;
    private final MessageAssembler assembler;
    private final OutgoingMessages out;
    private final Subscriptions subscriptions;

    /** What has arrived and is not decoded; null if nothing. */
    private ByteBuf rest;

    /** Memory for the message that arrives; null if none is needed. */
    private FrameReservation reservation;

    private int reservedBytes;

    /** Messages that have no response. */
    private final Set<Held> inFlight = new HashSet<>();

    private int inFlightBytes;
    private boolean waitsForMemory;
    private boolean waitsForClient;
    private boolean held;
    private boolean opened;
    private boolean closing;
    private long arrivedBytes;
    private int silentSeconds;
    private int slowSeconds;

    WebSocketSession(
            HttpExchange exchange,
            Supplier<MetadataImage> images,
            Targets targets,
            Map<String, String> headers,
            String protocol) {
        this.exchange = exchange;
        this.headers = headers;
        this.batches = protocol.equals(BATCH_PROTOCOL);
        this.out = new OutgoingMessages(exchange);
        this.subscriptions = new Subscriptions(exchange, images, batches, out, this::updateHold);
        this.append = new MessageAppend(exchange, targets);
        this.assembler = new MessageAssembler(exchange.allocator(), this);
    }

    @Override
    public void onEnd() {
        opened = true;
        exchange.counters().onWebSocketOpened();
        exchange.holdLess();
        if (batches) {
            exchange.acceptFiles();
        }
        exchange.upgrade(headers);
    }

    @Override
    public void onData(ByteBuf data) {
        if (!opened) {
            throw HttpExchange.invalid("the request has a body", "use a WebSocket client");
        }
        arrivedBytes += data.readableBytes();
        rest = data.retainedSlice();
    }

    @Override
    public boolean goOn() {
        while (rest != null && !closing && !exchange.mustPause()) {
            if (!rest.isReadable()) {
                dropRest();
                return false;
            }
            try {
                assembler.read(rest);
            } catch (MessageAssembler.ProtocolException violation) {
                close(violation.code(), violation.getMessage());
            }
        }
        return rest != null && !closing;
    }

    private void dropRest() {
        if (rest != null) {
            rest.release();
            rest = null;
        }
    }

    @Override
    public void onFrame(int sizeBytes, boolean isLast) {
        if (sizeBytes <= MAX_FREE_BYTES || reservation != null) {
            return;
        }
        reservation = exchange.reservation(this::onRoom);
        reservedBytes = 2 * (isLast ? sizeBytes : MessageAssembler.MAX_MESSAGE_BYTES);
        if (!reservation.canHold(reservedBytes)) {
            close(CloseCode.TOO_BIG, "the message needs more memory than all requests may use");
        } else if (!reservation.ask(reservedBytes)) {
            waitsForMemory = true;
            updateHold();
        }
    }

    private void onRoom() {
        if (waitsForMemory && reservation != null) {
            waitsForMemory = !reservation.ask(reservedBytes);
            updateHold();
        }
    }

    @Override
    public boolean holdsMemory() {
        return reservation != null && reservation.isGranted();
    }

    private void updateHold() {
        boolean hold = waitsForMemory
                || waitsForClient
                || inFlight.size() >= MAX_IN_FLIGHT
                || inFlightBytes > MAX_IN_FLIGHT_BYTES
                || subscriptions.hasManyAbandoned();
        if (hold != held && !closing) {
            held = hold;
            if (hold) {
                exchange.hold();
            } else {
                exchange.release();
            }
        }
    }

    /** Messages cause others, which must not pile up for a client that does not read. */
    private void awaitClient() {
        if (!waitsForClient && !exchange.isWritable()) {
            waitsForClient = true;
            exchange.whenWritable(() -> {
                waitsForClient = false;
                updateHold();
            });
            updateHold();
        }
    }

    /** What a message holds until it has its response. */
    private final class Held {
        private final int sizeBytes;
        private final FrameReservation memory;

        Held(int sizeBytes) {
            this.sizeBytes = reservation == null ? sizeBytes : 0;
            this.memory = reservation;
            reservation = null;
            inFlight.add(this);
            inFlightBytes += this.sizeBytes;
        }

        void end() {
            if (inFlight.remove(this)) {
                inFlightBytes -= sizeBytes;
                if (memory != null) {
                    memory.release();
                }
                updateHold();
            }
        }
    }

    @Override
    public void onMessage(boolean isText, ByteBuf payload) {
        exchange.charge(FairScheduler.REQUEST_BYTES);
        Held message = new Held(payload.readableBytes());
        try {
            if (isText) {
                onText(payload, message);
            } else if (batches) {
                onBinary(payload, message);
            } else {
                close(CloseCode.UNSUPPORTED, JSON_PROTOCOL + " has no binary messages");
            }
        } catch (RuntimeException failure) {
            message.end();
            throw failure;
        } finally {
            payload.release();
        }
        updateHold();
        awaitClient();
    }

    private void onText(ByteBuf payload, Held message) {
        if (!ByteBufUtil.isText(payload, StandardCharsets.UTF_8)) {
            message.end();
            close(CloseCode.INVALID_DATA, "a text is not UTF-8");
            return;
        }
        JsonOut.Document id = json -> {};
        int start = payload.readerIndex();
        try (Command command = Command.read(payload)) {
            id = command.id();
            if (command.type().equals("produce")) {
                produce(command, payload.readerIndex(start), message);
            } else {
                message.end();
                subscriptions.run(command);
            }
        } catch (ProblemException refusal) {
            message.end();
            out.sendError(id, refusal.problem());
        } catch (JsonProcessingException malformed) {
            message.end();
            close(CloseCode.INVALID_DATA, "a message is not JSON: " + malformed.getOriginalMessage());
        } catch (IOException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private void produce(Command command, ByteBuf payload, Held message) {
        command.checkMembers(List.of("topic", "records"));
        if (command.recordsIndex() < 0) {
            throw Command.invalid("the message has no \"records\"");
        }
        String topic = command.needed("topic");
        append.append(topic, payload.skipBytes(command.recordsIndex()), outcome(topic, command.id(), message));
    }

    /** Batches, behind a line that describes them. */
    private void onBinary(ByteBuf payload, Held message) {
        int lineBytes = payload.bytesBefore(Math.min(payload.readableBytes(), MAX_HEADER_LINE_BYTES), (byte) '\n');
        if (lineBytes < 0) {
            message.end();
            close(CloseCode.INVALID_DATA, "a binary message does not begin with a line of JSON");
            return;
        }
        JsonOut.Document id = json -> {};
        try (Command command = Command.read(payload.readSlice(lineBytes))) {
            id = command.id();
            if (!command.type().equals("produce")) {
                throw Command.invalid("only messages of type \"produce\" are binary");
            }
            command.checkMembers(List.of("topic", "partition"));
            payload.skipBytes(1);
            String topic = command.needed("topic");
            append.appendBatches(topic, command.number("partition"), payload, outcome(topic, id, message));
        } catch (ProblemException refusal) {
            message.end();
            out.sendError(id, refusal.problem());
        } catch (IOException malformed) {
            message.end();
            close(CloseCode.INVALID_DATA, "a binary message does not begin with a line of JSON");
        }
    }

    private MessageAppend.Outcome outcome(String topic, JsonOut.Document id, Held message) {
        return (problem, appended) -> {
            message.end();
            if (problem == null) {
                out.send("produced", json -> {
                    id.write(json);
                    json.writeStringField("topic", topic);
                    appended.write(json);
                });
            } else {
                out.sendError(
                        json -> {
                            id.write(json);
                            if (appended != null) {
                                appended.write(json);
                            }
                        },
                        problem);
            }
            awaitClient();
        };
    }

    @Override
    public void onPing(ByteBuf payload) {
        exchange.charge(FairScheduler.REQUEST_BYTES);
        ByteBuf pong = WebSocketFrames.begin(
                exchange.allocator().buffer(WebSocketFrames.MAX_HEAD_BYTES + payload.readableBytes()));
        pong.writeBytes(payload);
        payload.release();
        exchange.sendBytes(WebSocketFrames.end(pong, WebSocketFrames.PONG, 0));
        awaitClient();
    }

    @Override
    public void onPong() {
        exchange.charge(FairScheduler.REQUEST_BYTES);
    }

    @Override
    public void onClose(ByteBuf payload) {
        try {
            if (payload.isReadable()) {
                int code = payload.readableBytes() < Short.BYTES ? 0 : payload.readUnsignedShort();
                if (!CloseCode.isSendable(code)) {
                    close(CloseCode.PROTOCOL_ERROR, "invalid close code");
                    return;
                }
                if (!ByteBufUtil.isText(payload, StandardCharsets.UTF_8)) {
                    close(CloseCode.INVALID_DATA, "the reason is not UTF-8");
                    return;
                }
            }
            close(CloseCode.NORMAL, "");
        } finally {
            payload.release();
        }
    }

    private void close(CloseCode code, String reason) {
        if (closing) {
            return;
        }
        closing = true;
        ByteBuf frame = WebSocketFrames.begin(exchange.allocator().buffer(FIRST_CLOSE_BYTES));
        frame.writeShort(code.code());
        byte[] text = reason.getBytes(StandardCharsets.US_ASCII);
        frame.writeBytes(text, 0, Math.min(text.length, MAX_REASON_BYTES));
        exchange.sendBytes(WebSocketFrames.end(frame, WebSocketFrames.CLOSE, 0));
        exchange.endUpgraded();
    }

    @Override
    public void onCheck() {
        boolean silent = arrivedBytes == 0;
        boolean slow = assembler.isWithinMessage() && arrivedBytes < MIN_BYTES_PER_S && !exchange.mustPause();
        // What the client sends while the socket is not read does not arrive.
        boolean reads = exchange.isWritable() && !exchange.mustPause();
        arrivedBytes = 0;
        silentSeconds = silent && reads ? silentSeconds + 1 : 0;
        slowSeconds = slow ? slowSeconds + 1 : 0;
        if (slowSeconds >= MAX_SLOW_S) {
            close(CloseCode.POLICY, "less than 1 KiB/s of a message arrived for 5 s");
        } else if (silentSeconds >= SILENCE_S) {
            close(CloseCode.POLICY, "nothing arrived for 60 s, not even a pong");
        } else if (silentSeconds > 0 && silentSeconds % PING_S == 0) {
            exchange.sendBytes(WebSocketFrames.end(
                    WebSocketFrames.begin(exchange.allocator().buffer(WebSocketFrames.MAX_HEAD_BYTES)),
                    WebSocketFrames.PING,
                    0));
        }
    }

    @Override
    public boolean onCutShort(Problem problem) {
        CloseCode code =
                switch (problem.type()) {
                    case UNAVAILABLE -> CloseCode.GOING_AWAY;
                    case INTERNAL_ERROR -> CloseCode.INTERNAL_ERROR;
                    default -> CloseCode.POLICY;
                };
        close(code, problem.detail());
        return opened;
    }

    @Override
    public void onClosed() {
        closing = true;
        if (opened) {
            exchange.counters().onWebSocketClosed();
        }
        dropRest();
        assembler.close();
        subscriptions.close();
        List.copyOf(inFlight).forEach(Held::end);
        if (reservation != null) {
            reservation.release();
            reservation = null;
        }
    }
}
