package io.journalq.bench.load;

import io.journalq.bench.BenchException;
import io.journalq.bench.measure.ProcessUsage;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;

/** Opens connections one after the other on several threads, each up to the end of a handshake or a login. */
public final class ConnectionLoad {
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

    /** Logins by SCRAM-SHA-256 without TLS. */
    public static Attempts logins(InetSocketAddress address, String user, String password) {
        return () -> {
            ScramLogin login = new ScramLogin(user, password);
            return () -> {
                try (Socket socket = connect(address)) {
                    login.run(socket);
                }
            };
        };
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
