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
