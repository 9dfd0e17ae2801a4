package io.journalq.bench.load;

import io.journalq.bench.BenchException;
import io.journalq.bench.measure.ProcessUsage;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.MessageReader;
import io.journalq.common.protocol.frame.Frames;
import io.journalq.common.protocol.message.ApiMessages;
import io.journalq.common.protocol.message.SaslAuthenticateRequest;
import io.journalq.common.protocol.message.SaslAuthenticateResponse;
import io.journalq.common.protocol.message.SaslHandshakeRequest;
import io.journalq.common.protocol.message.SaslHandshakeResponse;
import io.journalq.common.sasl.ScramMechanism;
import io.journalq.common.sasl.ScramMessages;
import io.journalq.common.sasl.ScramMessages.ClientFinal;
import io.journalq.common.sasl.ScramMessages.ClientFirst;
import io.journalq.common.sasl.ScramMessages.ServerFirst;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.ReferenceCounted;
import io.netty.util.concurrent.Future;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;

/** Opens connections one after the other on several threads, each up to the end of a handshake or a login. */
public final class ConnectionLoad {
    private static final short HANDSHAKE_VERSION = 1;
    private static final short AUTHENTICATE_VERSION = 2;
    private static final String NONCE = "0123456789abcdefghijklmn";
    private static final int TIMEOUT_MS = 30_000;
    private static final double MICROS_PER_NANO = 1e-3;

    private ConnectionLoad() {}

    /** Opens and closes one connection. Called by one thread. */
    @FunctionalInterface
    public interface Attempt {
        void run() throws IOException;
    }

    /** Makes the attempts of a thread, which keep state such as sessions of TLS. */
    @FunctionalInterface
    public interface Attempts {
        Attempt ofThread();
    }

    /**
     * What was measured.
     *
     * @param brokerMicros processor time of the broker for each connection; 0 if its process is unknown
     */
    public record Result(double perSecond, double brokerMicros) {}

    /**
     * Runs attempts for some time.
     *
     * @param brokerPid process id of the broker on this machine
     * @param warmup during which nothing is counted
     */
    public static Result run(Attempts attempts, int threads, long brokerPid, Duration warmup, Duration duration)
            throws InterruptedException {
        LongAdder done = new LongAdder();
        AtomicReference<IOException> failure = new AtomicReference<>();
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            Attempt attempt = attempts.ofThread();
            Thread thread = new Thread(
                    () -> {
                        try {
                            while (!Thread.currentThread().isInterrupted()) {
                                attempt.run();
                                done.increment();
                            }
                        } catch (IOException refused) {
                            failure.compareAndSet(null, refused);
                        }
                    },
                    "connection-load-" + i);
            thread.setDaemon(true);
            thread.start();
            all.add(thread);
        }
        Thread.sleep(warmup.toMillis());
        long before = done.sum();
        long cpuBefore = ProcessUsage.of(brokerPid).cpuNs();
        long startNs = System.nanoTime();
        Thread.sleep(duration.toMillis());
        long count = done.sum() - before;
        double seconds = (System.nanoTime() - startNs) / (double) TimeUnit.SECONDS.toNanos(1);
        long cpuNs = ProcessUsage.of(brokerPid).cpuNs() - cpuBefore;
        all.forEach(Thread::interrupt);
        for (Thread thread : all) {
            thread.join(TIMEOUT_MS);
        }
        if (failure.get() != null || count == 0) {
            throw new BenchException(
                    "the broker refused a connection: "
                            + (failure.get() == null
                                    ? "none was completed"
                                    : failure.get().getMessage()),
                    "look at its log");
        }
        return new Result(count / seconds, cpuNs * MICROS_PER_NANO / count);
    }

    /**
     * Full handshakes of TLS. A client of the JDK would need more time for them than the broker.
     *
     * @param loop runs the connections of all threads
     */
    public static Attempts handshakes(InetSocketAddress address, SslContext context, EventLoopGroup loop) {
        Bootstrap bootstrap = new Bootstrap()
                .group(loop)
                .channel(NioSocketChannel.class)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, TIMEOUT_MS)
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(context.newHandler(channel.alloc()));
                    }
                });
        return () -> () -> {
            ChannelFuture connected = bootstrap.connect(address);
            await(connected);
            NioSocketChannel channel = (NioSocketChannel) connected.channel();
            await(channel.pipeline().get(SslHandler.class).handshakeFuture());
            // The broker ends the connection, when it has sent what belongs to the handshake.
            await(channel.shutdownOutput());
            await(channel.closeFuture());
        };
    }

    /** Handshakes of TLS 1.2. Each but the first of a thread resumes its session. */
    public static Attempts resumptions(InetSocketAddress address, SSLContext trust) {
        return () -> () -> {
            try (Socket plain = connect(address);
                    SSLSocket socket = (SSLSocket) trust.getSocketFactory()
                            .createSocket(plain, address.getHostString(), address.getPort(), true)) {
                socket.setEnabledProtocols(new String[] {"TLSv1.2"});
                socket.startHandshake();
            }
        };
    }

    private static void await(Future<?> future) throws IOException {
        if (!future.awaitUninterruptibly(TIMEOUT_MS)) {
            throw new IOException("the broker does not respond within " + TIMEOUT_MS + " ms");
        }
        if (!future.isSuccess()) {
            throw new IOException(future.cause());
        }
    }

    /** Logins by SCRAM-SHA-256 without TLS. The client computes the salted password once. */
    public static Attempts logins(InetSocketAddress address, String user, String password) {
        return () -> new Attempt() {
            private byte[] salt;
            private byte[] salted;

            @Override
            public void run() throws IOException {
                try (Socket socket = connect(address)) {
                    call(
                            socket,
                            new SaslHandshakeRequest().setMechanism("SCRAM-SHA-256"),
                            HANDSHAKE_VERSION,
                            SaslHandshakeResponse.class);
                    ClientFirst first = ClientFirst.of(user, NONCE);
                    ServerFirst challenge = ServerFirst.parse(send(socket, first.text()));
                    if (!Arrays.equals(salt, challenge.salt())) {
                        salt = challenge.salt();
                        salted = ScramMechanism.SCRAM_SHA_256.saltedPassword(
                                password.getBytes(StandardCharsets.UTF_8), salt, challenge.iterations());
                    }
                    String unproven = ClientFinal.unproven(first.gs2Header(), challenge.nonce());
                    byte[] proof = ScramMechanism.SCRAM_SHA_256.clientProof(
                            salted, ScramMessages.authMessage(first, challenge, unproven));
                    send(socket, ClientFinal.text(unproven, proof));
                }
            }
        };
    }

    private static String send(Socket socket, String message) throws IOException {
        SaslAuthenticateRequest request =
                new SaslAuthenticateRequest().setAuthBytes(Unpooled.copiedBuffer(message, StandardCharsets.UTF_8));
        SaslAuthenticateResponse response = call(socket, request, AUTHENTICATE_VERSION, SaslAuthenticateResponse.class);
        if (response.errorCode() != 0) {
            throw new IOException("the login was refused with error " + response.errorCode());
        }
        return response.authBytes().toString(StandardCharsets.UTF_8);
    }

    private static <T extends ApiMessage> T call(Socket socket, ApiMessage request, short version, Class<T> type)
            throws IOException {
        List<ReferenceCounted> parts =
                Frames.request(UnpooledByteBufAllocator.DEFAULT, 1, "connection-load", request, version);
        ByteBuf frame = Unpooled.wrappedBuffer(parts.toArray(new ByteBuf[0]));
        byte[] bytes = new byte[frame.readableBytes()];
        frame.readBytes(bytes);
        frame.release();
        socket.getOutputStream().write(bytes);
        DataInputStream in = new DataInputStream(socket.getInputStream());
        byte[] response = new byte[in.readInt()];
        in.readFully(response);
        MessageReader reader = new MessageReader(Unpooled.wrappedBuffer(response));
        Frames.readResponseHeader(reader, request.apiKey(), version);
        return type.cast(ApiMessages.readResponse(request.apiKey(), reader, version));
    }

    /** Closes with a reset, so that no port stays in TIME_WAIT. */
    private static Socket connect(InetSocketAddress address) throws IOException {
        Socket socket = new Socket();
        socket.setSoLinger(true, 0);
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(TIMEOUT_MS);
        socket.connect(address, TIMEOUT_MS);
        return socket;
    }
}
