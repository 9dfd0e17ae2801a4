package io.journalq.client.internal.network;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.io.File;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** The choice of a transport. */
final class ClientLoopTest {
    @Test
    @EnabledOnOs(value = OS.LINUX, architectures = "amd64")
    void shouldUseEpollWhenTheNativeTransportIsOnTheClassPath() {
        assertThat(ClientLoop.channelType()).isEqualTo(EpollSocketChannel.class);
    }

    @Test
    void shouldUseTheSocketsOfTheJdkWhenTheNativeTransportIsNotOnTheClassPath() throws Exception {
        List<URL> classPath = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
            if (!entry.contains("native-epoll")) {
                classPath.add(Path.of(entry).toUri().toURL());
            }
        }
        try (URLClassLoader loader =
                new URLClassLoader(classPath.toArray(new URL[0]), ClassLoader.getPlatformClassLoader())) {
            Method channelType = loader.loadClass(ClientLoop.class.getName()).getDeclaredMethod("channelType");
            channelType.setAccessible(true);
            assertThat(((Class<?>) channelType.invoke(null)).getName()).isEqualTo(NioSocketChannel.class.getName());
        }
    }
}
