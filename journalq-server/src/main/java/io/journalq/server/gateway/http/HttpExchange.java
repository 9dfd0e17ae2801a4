package io.journalq.server.gateway.http;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.RecordsData;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.server.api.LocalCall;
import io.journalq.server.api.RecordMemory;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemException;
import io.journalq.server.gateway.problem.ProblemType;
import io.journalq.server.loop.Loop;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.network.FrameReservation;
import io.journalq.server.network.SharedMemory;
import io.journalq.server.security.Principal;
import io.journalq.server.security.Right;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.net.SocketAddress;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.IntSupplier;

/** One request and its response, as its route sees them. On the loop of the connection. */
public final class HttpExchange implements Caller {
    /** The body has no Content-Length, or its size after decompression is not known. */
    public static final long UNKNOWN_LENGTH = -1;

    private static final String JSON = "application/json";

    private final HttpConnection connection;
    private final HttpRequest request;
    private Map<String, String> pathParameters = Map.of();
    private Map<String, List<String>> parameters = Map.of();
    private long bodyLength = UNKNOWN_LENGTH;
    private boolean hasResponse;

    /** Whether there were many streams and WebSockets when this one began. */
    private boolean oneOfMany;

    private boolean closed;

    /** Whether the credentials of the client expire, and have not yet. */
    private boolean expires;

    private long expiryNanos;
    private boolean expired;

    /** @param request null if its head has not arrived */
    HttpExchange(HttpConnection connection, HttpRequest request) {
        this.connection = connection;
        this.request = request;
    }

    /** The route of the request was found. */
    void begin(Routes.Match match, long itsBodyLength) {
        pathParameters = match.path();
        parameters = match.query();
        bodyLength = itsBodyLength;
    }

    /** The credentials of the client expire at this time. */
    void expireAt(long atNanos) {
        expires = true;
        expiryNanos = atNanos;
    }

    /** Whether the credentials of the client expire, and have not yet. */
    boolean expires() {
        return expires;
    }

    /** When the credentials of the client expire, if they do. */
    long expiryNanos() {
        return expiryNanos;
    }

    /** The credentials of the client have expired. */
    void expire() {
        expires = false;
        expired = true;
    }

    /** Whether the credentials of the client have expired, so that nothing else may be done for it. */
    public boolean hasExpired() {
        return expired;
    }

    /** A parameter of the path. */
    public String pathParameter(String name) {
        return pathParameters.get(name);
    }

    /** The head of the request. */
    public HttpRequest request() {
        return request;
    }

    /** Size of the body as its route receives it, or {@link #UNKNOWN_LENGTH}. */
    public long bodyLength() {
        return bodyLength;
    }

    @Override
    public LoopCycle cycle() {
        return connection.loop().cycle();
    }

    @Override
    public ByteBufAllocator allocator() {
        return connection.channel().alloc();
    }

    public GatewayCounters counters() {
        return connection.services().counters();
    }

    /** Whether the request has ended, because its response is complete or its client has left. */
    @Override
    public boolean isClosed() {
        return closed;
    }

    void close() {
        closed = true;
    }

    boolean hasResponse() {
        return hasResponse;
    }

    /**
     * Refuses the request if its client has used up a quota.
     *
     * @param key the quota, such as {@link io.journalq.server.metadata.QuotaKeys#PRODUCE_BYTES}
     */
    public void checkQuota(String key) {
        connection.identity().checkQuota(key);
    }

    /**
     * Refuses the request if its client may not use a resource. Called before anything is said about the resource.
     *
     * @param api an API that asks for this right
     * @param name of the resource
     */
    public void checkRight(ApiKey api, Right right, String name) {
        connection.identity().checkRight(connection.services().handlers().find(api.id()), right, name);
    }

    /**
     * Whether the client may use a resource. Nothing is audited.
     *
     * @param api an API that asks for this right
     * @param name of the resource
     */
    public boolean sees(ApiKey api, Right right, String name) {
        return new LocalCall(
                        connection.identity().client(),
                        connection.services().handlers().find(api.id()),
                        connection.services().handlers().find(api.id()).api().highestVersion(),
                        0,
                        response -> {})
                .sees(right, name);
    }

    /** Who has sent the request. */
    public Principal principal() {
        return connection.identity().client().session().principal();
    }

    /** The client id that the client sent, or that of all clients that sent none. */
    public String clientId() {
        return connection.identity().client().clientId();
    }

    /** Whether clients with the same identity may share what was fetched for one of them: no quota counts their bytes. */
    public boolean canShare() {
        return !connection.services().throttles().isActive();
    }

    /** The address of the client. */
    public SocketAddress remoteAddress() {
        return connection.channel().remoteAddress();
    }

    /**
     * Begins something that the client leaves in the broker when the request has ended. It runs on the loop of this
     * request.
     *
     * @param onFailure is called if it fails unexpectedly
     */
    public LastingCaller lasting(Runnable onFailure) {
        return lasting(onFailure, () -> 1);
    }

    /**
     * As {@link #lasting(Runnable)}, for several clients.
     *
     * @param receivers the number of clients that get the records of a response. On the loop
     */
    public LastingCaller lasting(Runnable onFailure, IntSupplier receivers) {
        return new LastingCaller(connection, onFailure, receivers);
    }

    /** Runs {@code work} now, and ends the request if it fails. */
    public void guard(Runnable work) {
        connection.guarded(this, work);
    }

    /** Whether rights are enforced. If not, every client may do everything. */
    public boolean enforcesRights() {
        return connection.services().handlers().authorizer().isOn();
    }

    @Override
    public void call(ApiKey api, int version, ApiMessage message, int sizeBytes, Consumer<ApiMessage> onResponse) {
        call(connection.identity().client(), api, version, message, sizeBytes, onResponse);
    }

    @Override
    public void fetch(int version, FetchRequest message, RecordMemory memory, Consumer<ApiMessage> onResponse) {
        call(connection.identity().client().reserving(memory), ApiKey.FETCH, version, message, 0, onResponse);
    }

    private void call(
            LocalCall.Client client,
            ApiKey api,
            int version,
            ApiMessage message,
            int sizeBytes,
            Consumer<ApiMessage> onResponse) {
        counters().onCall(api);
        connection
                .services()
                .calls()
                .call(
                        client,
                        api,
                        version,
                        message,
                        sizeBytes,
                        response -> connection.guarded(this, () -> onResponse.accept(response)));
    }

    /** Counts work, so that the connection ends its turn when it has used its share of the loop's time. */
    public void charge(long bytes) {
        connection.charge(bytes);
    }

    /** Whether the body must pause, because the connection has used its share of the loop or its route holds it. */
    public boolean mustPause() {
        return connection.isBlocked();
    }

    /** Stops the body until {@link #release}. */
    public void hold() {
        if (!closed) {
            connection.hold(true);
        }
    }

    /** Ends {@link #hold}. */
    public void release() {
        if (!closed) {
            connection.hold(false);
        }
    }

    /** Whether the client reads its response. */
    public boolean isWritable() {
        return connection.channel().isWritable();
    }

    /** Runs {@code work} once, when the client has read most of its response. */
    public void whenWritable(Runnable work) {
        connection.output().whenWritable(() -> connection.guarded(this, work));
    }

    @Override
    public void later(Runnable work) {
        cycle().enqueueForNextIteration(() -> connection.guarded(this, work));
    }

    @Override
    public Loop.Timer schedule(Runnable work, long delayMs) {
        return cycle().loop().schedule(() -> connection.guarded(this, work), delayMs);
    }

    @Override
    public SharedMemory memory() {
        return connection.loop().memory();
    }

    /** Sends a JSON document, which is the complete response. Takes ownership of it. */
    public void respond(HttpResponseStatus status, ByteBuf document) {
        respond(status, JSON, document, Map.of());
    }

    /**
     * Sends a document, which is the complete response. Takes ownership of it.
     *
     * @param headers additional headers, which replace those that all responses have
     */
    public void respond(HttpResponseStatus status, String type, ByteBuf document, Map<String, String> headers) {
        if (closed || hasResponse) {
            document.release();
            return;
        }
        hasResponse = true;
        connection.respond(status, type, document, headers);
    }

    /** Sends a problem, which is the complete response. */
    public void fail(Problem problem) {
        fail(problem, json -> {});
    }

    /** Sends a problem with additional members. */
    public void fail(Problem problem, JsonOut.Document more) {
        connection.services().counters().onProblem(problem.type());
        ErrorForm form = connection.errors();
        ByteBuf document = JsonOut.object(allocator(), json -> {
            form.write(json, problem);
            more.write(json);
        });
        respond(problem.type().status(), form.type(), document, problem.headers());
    }

    /** Begins a response whose size is not known. */
    public void beginStream(String type) {
        if (!closed && !hasResponse) {
            hasResponse = true;
            connection.beginStream(type);
        }
    }

    /** Lets the client hold less that it does not read, because many such clients may stay for long. */
    public void holdLess() {
        if (!closed) {
            oneOfMany = counters().openStreams() + counters().openWebSockets() > HttpDoor.FEW_STREAMS;
            connection
                    .channel()
                    .config()
                    .setWriteBufferWaterMark(oneOfMany ? HttpDoor.UNSENT_OF_MANY : HttpDoor.UNSENT_OF_STREAM);
            if (oneOfMany) {
                // Without epoll, there is no limit, and this changes nothing.
                connection
                        .channel()
                        .config()
                        .setOption(EpollChannelOption.TCP_NOTSENT_LOWAT, HttpDoor.KERNEL_BYTES_OF_STREAM);
            }
        }
    }

    /** Size of a part of a response that does not end, if it usually is {@code usualBytes}. */
    public int partBytes(int usualBytes) {
        return oneOfMany ? Math.min(usualBytes, HttpDoor.PART_BYTES_OF_MANY) : usualBytes;
    }

    /** Sends a part of the response. Takes ownership of it. */
    public void stream(ByteBuf part) {
        if (closed) {
            part.release();
        } else {
            connection.output().stream(part);
        }
    }

    /**
     * Ends HTTP on this connection. The body of the request, an {@link UpgradedBody}, receives everything that arrives
     * from here. Called from {@link RequestBody#onEnd}.
     *
     * @param headers headers of the response, whose status is 101
     */
    public void upgrade(Map<String, String> headers) {
        if (!closed && !hasResponse) {
            hasResponse = true;
            connection.upgrade(headers);
        }
    }

    /** The records that are fetched from here on are sent as they are, so that they may be regions of files. */
    public void acceptFiles() {
        connection.identity().acceptFiles();
    }

    /** Sends records on an upgraded connection. Takes ownership of them. */
    public void sendRecords(RecordsData records) {
        if (records.region() == null) {
            sendBytes(records.buffer());
        } else if (closed) {
            records.release();
        } else {
            connection.output().write(records.region());
        }
    }

    /** Sends bytes on an upgraded connection. Takes ownership of them. */
    public void sendBytes(ByteBuf bytes) {
        if (closed) {
            bytes.release();
        } else {
            connection.output().bytes(bytes);
        }
    }

    /** Closes an upgraded connection when everything was sent. */
    public void endUpgraded() {
        if (!closed) {
            connection.endUpgraded();
        }
    }

    /**
     * Memory for something that arrives in parts.
     *
     * @param onRoom is called when a wait for it has ended
     */
    public FrameReservation reservation(Runnable onRoom) {
        return connection.loop().reservation(() -> connection.guarded(this, onRoom));
    }

    /** Completes the response. */
    public void endStream() {
        if (!closed) {
            connection.endStream();
        }
    }

    /**
     * Refuses parameters that a route does not know, because they are probably misspelled.
     *
     * @param route the description of the route
     */
    public void checkParameters(RouteDescription route) {
        for (String name : parameters.keySet()) {
            List<String> known = route.names();
            if (!known.contains(name)) {
                throw invalid(
                        "there is no parameter of this name",
                        known.isEmpty() ? "leave the parameters out" : "use one of " + String.join(", ", known));
            }
        }
    }

    /** The only value of a parameter; null if it is not given. */
    public String parameter(String name) {
        List<String> values = parameters.get(name);
        if (values == null || values.isEmpty()) {
            return null;
        }
        if (values.size() > 1) {
            throw invalid("the parameter " + name + " is given twice", "give it once");
        }
        return values.get(0);
    }

    /** The only value of a header, as the bytes that were sent are in Latin-1; null if it is not given. */
    public String header(String name) {
        List<String> values = request.headers().getAll(name);
        if (values.size() > 1) {
            throw invalid("the header " + name + " is given twice", "give it once");
        }
        return values.isEmpty() ? null : values.get(0);
    }

    /** A problem with a parameter or a header. */
    public static ProblemException invalid(String detail, String remedy) {
        return new Problem(ProblemType.INVALID_PARAMETER, detail, remedy).exception();
    }

    /** The media type of the body, without its parameters, in lower case. */
    public String bodyType() {
        String type = request.headers().get(HttpHeaderNames.CONTENT_TYPE, "");
        int end = type.indexOf(';');
        return (end < 0 ? type : type.substring(0, end)).strip().toLowerCase(Locale.ROOT);
    }
}
