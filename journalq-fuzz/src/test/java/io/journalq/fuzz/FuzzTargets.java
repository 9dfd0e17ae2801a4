package io.journalq.fuzz;

import io.journalq.seal.KeyPacketTarget;
import io.journalq.seal.KeyRegistryTarget;
import io.journalq.seal.SealedContentTarget;
import io.journalq.server.gateway.produce.JsonRecordsTarget;
import io.journalq.server.gateway.websocket.FramesTarget;
import io.journalq.server.network.ServerTarget;
import io.journalq.server.security.CertificateNamesTarget;
import io.journalq.server.security.token.TokensTarget;
import java.util.List;

/** All targets. */
public final class FuzzTargets {
    private FuzzTargets() {}

    /** New targets, in the order in which they are run. */
    public static List<FuzzTarget> all() {
        return List.of(
                new MessageTarget(),
                new ServerTarget(ServerTarget.Form.STREAM),
                new ServerTarget(ServerTarget.Form.REQUESTS),
                new BatchTarget(),
                new CodecTarget(),
                new GroupProtocolTarget(),
                new CoordinatorRecordTarget(),
                new MetadataLogTarget(),
                new ProducerSnapshotTarget(),
                new JournalFilesTarget(),
                new SegmentTarget(),
                new WriteAheadTarget(),
                new SaslTarget(),
                new TokensTarget(),
                new CertificateNamesTarget(),
                new SealTarget(),
                new KeyPacketTarget(),
                new KeyRegistryTarget(),
                new SealedContentTarget(),
                new JsonRecordsTarget(),
                new FramesTarget());
    }

    /** The target of that name. */
    public static FuzzTarget named(String name) {
        return all().stream()
                .filter(target -> target.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no target is named " + name));
    }
}
