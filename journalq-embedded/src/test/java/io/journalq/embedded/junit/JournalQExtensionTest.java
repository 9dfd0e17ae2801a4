package io.journalq.embedded.junit;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.embedded.EmbeddedBroker;
import java.net.InetAddress;
import java.net.Socket;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(JournalQExtension.class)
class JournalQExtensionTest {
    private static EmbeddedBroker ofTheClass;

    @BeforeAll
    static void keep(EmbeddedBroker broker) {
        ofTheClass = broker;
    }

    @Test
    void shouldGiveTheBrokerOfTheClassWhenATestAsksForOne(EmbeddedBroker broker) throws Exception {
        // given, when
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), broker.port())) {
            // then
            assertThat(socket.isConnected()).isTrue();
        }
        assertThat(broker).isSameAs(ofTheClass);
    }

    @Nested
    class Inside {
        @Test
        void shouldGiveTheSameBrokerWhenATestOfANestedClassAsks(EmbeddedBroker broker) {
            // given, when, then
            assertThat(broker).isSameAs(ofTheClass);
        }
    }
}
