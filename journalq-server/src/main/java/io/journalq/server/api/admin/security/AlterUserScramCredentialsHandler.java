package io.journalq.server.api.admin.security;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.AlterUserScramCredentialsRequest;
import io.journalq.common.protocol.message.AlterUserScramCredentialsRequest.ScramCredentialDeletion;
import io.journalq.common.protocol.message.AlterUserScramCredentialsRequest.ScramCredentialUpsertion;
import io.journalq.common.protocol.message.AlterUserScramCredentialsResponse;
import io.journalq.common.protocol.message.AlterUserScramCredentialsResponse.AlterUserScramCredentialsResult;
import io.journalq.common.sasl.ScramCredential;
import io.journalq.common.sasl.ScramMechanism;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.DeferredResponse;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.control.Controller;
import io.journalq.server.control.Controller.ScramChange;
import io.journalq.server.control.Outcome;
import io.journalq.server.security.Principal;
import io.journalq.server.security.Right;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * AlterUserScramCredentials, version 0 (KIP-554): sets and removes the credentials of users. All changes of one user
 * succeed or fail together. The client has computed the salted password, so that the broker never sees the password.
 *
 * <p>A client that has not proven who it is may change no credentials, because it would become any user by that.
 */
public final class AlterUserScramCredentialsHandler implements Handler<AlterUserScramCredentialsRequest> {
    private static final int MAX_SALT_BYTES = 256;

    private final Controller controller;

    public AlterUserScramCredentialsHandler(Controller controller) {
        this.controller = controller;
    }

    /** The requested changes of one user, and why they are refused. */
    private static final class Wish {
        private final List<ScramCredential> set = new ArrayList<>();
        private final List<ScramMechanism> removed = new ArrayList<>();
        private final Set<ScramMechanism> changed = EnumSet.noneOf(ScramMechanism.class);
        private Outcome refusal;

        /** Whether the mechanism exists, and is changed once. Otherwise the whole wish is refused. */
        boolean mayChange(ScramMechanism mechanism) {
            if (mechanism == null) {
                refuse(ErrorCode.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism");
            } else if (!changed.add(mechanism)) {
                refuse(ErrorCode.DUPLICATE_RESOURCE, "A user credential cannot be altered twice in the same request");
            }
            return refusal == null;
        }

        void refuse(ErrorCode error, String reason) {
            if (refusal == null) {
                refusal = new Outcome(error, reason, null);
            }
        }
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.ALTER_USER_SCRAM_CREDENTIALS, 0, 0, AccessRule.asks(Right.ALTER_CLUSTER));
    }

    @Override
    public void handle(RequestContext context, AlterUserScramCredentialsRequest request) {
        Map<String, Wish> wishes = new LinkedHashMap<>();
        for (ScramCredentialDeletion deletion : request.deletions()) {
            Wish wish = wishes.computeIfAbsent(deletion.name(), user -> new Wish());
            ScramMechanism mechanism = ScramMechanism.of(deletion.mechanism());
            if (wish.mayChange(mechanism)) {
                wish.removed.add(mechanism);
            }
        }
        for (ScramCredentialUpsertion upsertion : request.upsertions()) {
            addUpsertion(wishes.computeIfAbsent(upsertion.name(), user -> new Wish()), upsertion);
        }
        if (!context.allows(Right.ALTER_CLUSTER)) {
            String denial = context.denial();
            wishes.values().forEach(wish -> wish.refuse(ErrorCode.CLUSTER_AUTHORIZATION_FAILED, denial));
        }
        if (context.principal().equals(Principal.ANONYMOUS)) {
            wishes.values()
                    .forEach(wish -> wish.refuse(
                            ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
                            "only a client that has proven who it is may change credentials"));
        }
        List<ScramChange> changes = new ArrayList<>();
        wishes.forEach((user, wish) -> {
            if (wish.refusal == null) {
                changes.add(new ScramChange(user, wish.set, wish.removed));
            }
        });
        DeferredResponse.when(
                controller.alterScram(changes), context, (outcomes, failure) -> response(wishes, outcomes, failure));
    }

    private static void addUpsertion(Wish wish, ScramCredentialUpsertion upsertion) {
        ScramMechanism mechanism = ScramMechanism.of(upsertion.mechanism());
        if (!wish.mayChange(mechanism)) {
            return;
        }
        String problem = problem(mechanism, upsertion);
        if (problem != null) {
            wish.refuse(ErrorCode.UNACCEPTABLE_CREDENTIAL, problem);
            return;
        }
        wish.set.add(mechanism.credential(
                bytes(upsertion.saltedPassword()), bytes(upsertion.salt()), upsertion.iterations()));
    }

    private static String problem(ScramMechanism mechanism, ScramCredentialUpsertion upsertion) {
        if (upsertion.iterations() < ScramMechanism.MIN_ITERATIONS) {
            return "Too few iterations; the minimum is " + ScramMechanism.MIN_ITERATIONS;
        }
        if (upsertion.iterations() > ScramMechanism.MAX_ITERATIONS) {
            return "Too many iterations; the maximum is " + ScramMechanism.MAX_ITERATIONS;
        }
        if (upsertion.saltedPassword().readableBytes() != mechanism.hashSizeBytes()) {
            return "the salted password must have " + mechanism.hashSizeBytes() + " bytes";
        }
        int saltBytes = upsertion.salt().readableBytes();
        return saltBytes == 0 || saltBytes > MAX_SALT_BYTES
                ? "the salt must have 1 to " + MAX_SALT_BYTES + " bytes"
                : null;
    }

    private static byte[] bytes(ByteBuf bytes) {
        return ByteBufUtil.getBytes(bytes);
    }

    private static AlterUserScramCredentialsResponse response(
            Map<String, Wish> wishes, List<Outcome> outcomes, Throwable failure) {
        List<AlterUserScramCredentialsResult> results = new ArrayList<>();
        int taken = 0;
        for (Map.Entry<String, Wish> wish : wishes.entrySet()) {
            Outcome outcome = wish.getValue().refusal;
            if (outcome == null) {
                outcome = failure != null ? Outcome.of(failure) : outcomes.get(taken);
                taken++;
            }
            results.add(new AlterUserScramCredentialsResult()
                    .setUser(wish.getKey())
                    .setErrorCode(outcome.error().code())
                    .setErrorMessage(outcome.reason()));
        }
        return new AlterUserScramCredentialsResponse().setResults(results);
    }
}
