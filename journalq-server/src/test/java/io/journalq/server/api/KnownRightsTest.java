package io.journalq.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.server.memory.MemoryAccount;
import io.journalq.server.metadata.security.Acl;
import io.journalq.server.metadata.security.AclImage;
import io.journalq.server.metadata.security.AclOperation;
import io.journalq.server.metadata.security.AclPattern;
import io.journalq.server.metadata.security.AclPermission;
import io.journalq.server.metadata.security.AclResource;
import io.journalq.server.metadata.security.AclResourceType;
import io.journalq.server.security.Right;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class KnownRightsTest {
    private static final AclImage OTHER = AclImage.NONE.with(new Acl(
            new AclResource(AclResourceType.TOPIC, AclPattern.LITERAL, "t"),
            "User:ada",
            "*",
            AclOperation.READ,
            AclPermission.DENY));

    private final AtomicLong bytes = new AtomicLong();
    private final KnownRights rights = new KnownRights(new MemoryAccount() {
        @Override
        public boolean hasRoom(long moreBytes) {
            return true;
        }

        @Override
        public void add(long moreBytes) {
            bytes.addAndGet(moreBytes);
        }
    });

    @Test
    void shouldKnowARightOnlyAsLongAsNoAclChanges() {
        assertThat(rights.contains(AclImage.NONE, Right.READ_TOPIC, "t")).isFalse();
        rights.add(Right.READ_TOPIC, "t");

        assertThat(rights.contains(AclImage.NONE, Right.READ_TOPIC, "t")).isTrue();
        assertThat(rights.contains(AclImage.NONE, Right.WRITE_TOPIC, "t")).isFalse();
        assertThat(rights.contains(OTHER, Right.READ_TOPIC, "t")).isFalse();
        assertThat(rights.contains(AclImage.NONE, Right.READ_TOPIC, "t")).isFalse();
    }

    @Test
    void shouldKnowWhetherThereIsARightForSomeNameOnlyAsLongAsNoAclAndNoUserChanges() {
        assertThat(rights.some(AclImage.NONE, Right.WRITE_TOPIC)).isNull();
        rights.addSome(Right.WRITE_TOPIC, false);
        rights.addSome(Right.READ_TOPIC, true);

        assertThat(rights.some(AclImage.NONE, Right.WRITE_TOPIC)).isFalse();
        assertThat(rights.some(AclImage.NONE, Right.READ_TOPIC)).isTrue();
        assertThat(rights.some(OTHER, Right.WRITE_TOPIC)).isNull();
        rights.addSome(Right.WRITE_TOPIC, true);
        rights.forget();
        assertThat(rights.some(OTHER, Right.WRITE_TOPIC)).isNull();
    }

    @Test
    void shouldStayWithinItsBoundsAndReturnItsMemory() {
        for (int i = 0; i < 10 * KnownRights.MAX_RIGHTS; i++) {
            rights.contains(AclImage.NONE, Right.READ_TOPIC, "t" + i);
            rights.add(Right.READ_TOPIC, "t" + i);
            assertThat(bytes.get()).isBetween(1L, KnownRights.MAX_RIGHTS * 120L);
        }
        rights.add(Right.READ_TOPIC, "x".repeat(KnownRights.MAX_NAME_LENGTH + 1));
        assertThat(rights.contains(AclImage.NONE, Right.READ_TOPIC, "x".repeat(KnownRights.MAX_NAME_LENGTH + 1)))
                .isFalse();

        rights.close();
        rights.add(Right.READ_TOPIC, "late");

        assertThat(bytes.get()).isZero();
    }
}
