package io.journalq.client.internal.network;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.io.File;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The choice of a transport, and the start of the event loops. */
final class ClientLoopTest {
    @Test
    @EnabledOnOs(value = OS.LINUX, architectures = "amd64")
    void shouldUseEpollWhenTheNativeTransportIsOnTheClassPath() {
        assertThat(ClientLoop.channelType()).isEqualTo(EpollSocketChannel.class);
    }

    @Test
    void shouldStartWhenThereAreFileDescriptorsAgain() throws Exception {
        // given a process without a client, and without file descriptors for event loops
        try (URLClassLoader process = isolated(entry -> true)) {
            Class<?> loops = process.loadClass(ClientLoop.class.getName());
            Method acquire = loops.getDeclaredMethod("acquire", Supplier.class);
            acquire.setAccessible(true);
            Supplier<?> refused = () -> {
                throw new IllegalStateException("too many open files");
            };
            assertThatThrownBy(() -> acquire.invoke(null, refused)).hasRootCauseMessage("too many open files");

            // when there are enough for the next client
            Object started = Proxy.newProxyInstance(
                    process,
                    new Class<?>[] {process.loadClass(EventLoopGroup.class.getName())},
                    (group, method, arguments) -> null);
            Supplier<?> start = () -> started;

            // then
            assertThat(acquire.invoke(null, start)).isNotNull();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"Producer", "Consumer", "Admin"})
    void shouldStopTheThreadsWhenTheLastClientFailsToStart(String client) throws Exception {
        // given a client, on event loops with which no other one can start
        try (URLClassLoader process = isolated(entry -> true)) {
            Method acquire = process.loadClass(ClientLoop.class.getName()).getDeclaredMethod("acquire", Supplier.class);
            acquire.setAccessible(true);
            List<String> calls = new ArrayList<>();
            Object loops = Proxy.newProxyInstance(
                    process,
                    new Class<?>[] {process.loadClass(EventLoopGroup.class.getName())},
                    (group, method, args) -> {
                        calls.add(method.getName());
                        return null;
                    });
            Supplier<?> start = () -> loops;
            AutoCloseable first = (AutoCloseable) acquire.invoke(null, start);
            Class<?> type = process.loadClass("io.journalq.client." + client);
            Object builder = type.getMethod("builder").invoke(null);
            builder.getClass().getMethod("bootstrapServers", String.class).invoke(builder, "localhost:1");
            Method build = builder.getClass().getMethod("build");
            assertThatThrownBy(() -> build.invoke(builder)).hasRootCauseInstanceOf(NullPointerException.class);

            // when
            first.close();

            // then
            assertThat(calls).endsWith("shutdownGracefully");
        }
    }

    @Test
    void shouldUseTheSocketsOfTheJdkWhenTheNativeTransportIsNotOnTheClassPath() throws Exception {
        try (URLClassLoader loader = isolated(entry -> !entry.contains("native-epoll"))) {
            Method channelType = loader.loadClass(ClientLoop.class.getName()).getDeclaredMethod("channelType");
            channelType.setAccessible(true);
            assertThat(((Class<?>) channelType.invoke(null)).getName()).isEqualTo(NioSocketChannel.class.getName());
        }
    }

    private static URLClassLoader isolated(Predicate<String> wanted) throws MalformedURLException {
        List<URL> classPath = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
            if (wanted.test(entry)) {
                classPath.add(Path.of(entry).toUri().toURL());
            }
        }
        return new URLClassLoader(classPath.toArray(new URL[0]), ClassLoader.getPlatformClassLoader());
    }
}
