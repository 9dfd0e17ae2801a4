package io.journalq.server.network.tls;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.server.network.LoopContext;
import io.journalq.server.network.NetworkCounters;
import io.journalq.server.network.SharedMemory;
import io.journalq.server.network.TestLoopContext;
import io.journalq.server.network.TlsFailure;
import io.journalq.server.shard.partition.SteppedLoop;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TlsWatchTest {
    private final NetworkCounters counters = new NetworkCounters();
    private final LoopContext loop = TestLoopContext.of(new SteppedLoop(), SharedMemory.of(1 << 20, 1 << 20), counters);

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldDisconnectAClientWithoutACertificateOnlyWhenItIsRequired(boolean required) throws Exception {
        // given a handshake that the implementation completes without a certificate
        X509Bundle keys = new CertificateBuilder()
                .subject("CN=broker")
                .setIsCertificateAuthority(true)
                .buildSelfSigned();
        EmbeddedChannel channel = new EmbeddedChannel();
        SslHandler tls = SslContextBuilder.forServer(keys.getKeyPair().getPrivate(), keys.getCertificatePath())
                .build()
                .newHandler(channel.alloc());
        List<X509Certificate[]> chains = new ArrayList<>();
        TlsWatch watch = new TlsWatch(loop, required, chain -> true, chains::add);
        watch.onStart(tls);
        channel.pipeline().addLast(watch);

        // when
        channel.pipeline().fireUserEventTriggered(SslHandshakeCompletionEvent.SUCCESS);
        channel.runPendingTasks();

        // then
        assertThat(channel.isOpen()).isEqualTo(!required);
        assertThat(counters.tlsFailures(TlsFailure.CERTIFICATE)).isEqualTo(required ? 1 : 0);
        assertThat(watch.certificate()).isNull();
        assertThat(chains).isEmpty();
        channel.finishAndReleaseAll();
    }
}
