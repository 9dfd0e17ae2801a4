package io.journalq.server.api.admin.security;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.DescribeUserScramCredentialsRequest;
import io.journalq.common.protocol.message.DescribeUserScramCredentialsRequest.UserName;
import io.journalq.common.protocol.message.DescribeUserScramCredentialsResponse;
import io.journalq.common.protocol.message.DescribeUserScramCredentialsResponse.CredentialInfo;
import io.journalq.common.protocol.message.DescribeUserScramCredentialsResponse.DescribeUserScramCredentialsResult;
import io.journalq.common.sasl.ScramCredential;
import io.journalq.common.sasl.ScramMechanism;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.security.ScramImage;
import io.journalq.server.security.Right;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * DescribeUserScramCredentials, version 0 (KIP-554): the mechanisms of users and their numbers of iterations, but no
 * keys. A request without names, or with an empty list, is for all users. A named user without credentials gets
 * RESOURCE_NOT_FOUND, and one that the request names twice DUPLICATE_RESOURCE.
 */
public final class DescribeUserScramCredentialsHandler implements Handler<DescribeUserScramCredentialsRequest> {
    private final Supplier<MetadataImage> images;

    /** @param images supplies the newest image */
    public DescribeUserScramCredentialsHandler(Supplier<MetadataImage> images) {
        this.images = images;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, 0, 0, AccessRule.asks(Right.DESCRIBE_CLUSTER));
    }

    @Override
    public void handle(RequestContext context, DescribeUserScramCredentialsRequest request) {
        if (!context.allows(Right.DESCRIBE_CLUSTER)) {
            context.respond(new DescribeUserScramCredentialsResponse()
                    .setErrorCode(ErrorCode.CLUSTER_AUTHORIZATION_FAILED.code())
                    .setErrorMessage(context.denial()));
            return;
        }
        ScramImage scram = images.get().scram();
        List<DescribeUserScramCredentialsResult> results = new ArrayList<>();
        if (request.users() == null || request.users().isEmpty()) {
            scram.users().forEach(user -> results.add(result(user.name(), user.credentials())));
        } else {
            Map<String, Integer> occurrences = new LinkedHashMap<>();
            for (UserName user : request.users()) {
                occurrences.merge(user.name(), 1, Integer::sum);
            }
            occurrences.forEach((user, count) -> results.add(
                    count == 1
                            ? result(user, scram.of(user))
                            : named(user, ErrorCode.DUPLICATE_RESOURCE)
                                    .setErrorMessage(
                                            "Cannot describe SCRAM credentials for the same user twice in a single"
                                                    + " request: "
                                                    + user)));
        }
        context.respond(new DescribeUserScramCredentialsResponse().setResults(results));
    }

    private static DescribeUserScramCredentialsResult result(
            String user, Map<ScramMechanism, ScramCredential> credentials) {
        if (credentials.isEmpty()) {
            return named(user, ErrorCode.RESOURCE_NOT_FOUND)
                    .setErrorMessage("Attempt to describe a user credential that does not exist: " + user);
        }
        return named(user, ErrorCode.NONE)
                .setCredentialInfos(credentials.values().stream()
                        .map(credential -> new CredentialInfo()
                                .setMechanism(credential.mechanism().type())
                                .setIterations(credential.iterations()))
                        .toList());
    }

    private static DescribeUserScramCredentialsResult named(String user, ErrorCode error) {
        return new DescribeUserScramCredentialsResult().setUser(user).setErrorCode(error.code());
    }
}
