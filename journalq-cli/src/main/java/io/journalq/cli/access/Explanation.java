package io.journalq.cli.access;

import io.journalq.client.admin.AclBinding;
import io.journalq.client.admin.AclBinding.Operation;
import io.journalq.client.admin.AclBinding.PatternType;
import io.journalq.client.admin.AclBinding.Permission;
import io.journalq.client.admin.AclBinding.ResourceType;
import io.journalq.server.config.AccessSettings;
import io.journalq.server.metadata.security.Acl;
import io.journalq.server.metadata.security.AclDecision;
import io.journalq.server.metadata.security.AclDecision.Verdict;
import io.journalq.server.metadata.security.AclImage;
import io.journalq.server.metadata.security.AclOperation;
import io.journalq.server.metadata.security.AclPattern;
import io.journalq.server.metadata.security.AclPermission;
import io.journalq.server.metadata.security.AclResource;
import io.journalq.server.metadata.security.AclResourceType;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Why a user may or may not perform an operation. Immutable.
 *
 * @param allowed the decision
 * @param rule what decides: an ACL, or a setting of the broker, or that nothing allows it
 * @param nearMisses ACLs that would allow it if one property were different
 * @param missing commands that would allow it
 * @param complete whether the settings of the broker are known
 */
record Explanation(
        Question question,
        boolean allowed,
        Verdict verdict,
        String rule,
        List<NearMiss> nearMisses,
        List<String> missing,
        boolean complete) {
    private static final int MAX_NEAR_MISSES = 10;

    /**
     * What is explained.
     *
     * @param principal in the form {@code User:name}
     * @param host empty for a host that no ACL names
     */
    record Question(String principal, String host, Operation operation, ResourceType type, String name) {}

    /** An ACL, and why it does not apply. */
    record NearMiss(AclBinding acl, String why) {}

    /**
     * Explains a decision.
     *
     * @param acls those of the type of the resource
     * @param settings those of the broker; null if they are not known
     */
    static Explanation of(Question question, List<AclBinding> acls, Map<String, String> settings) {
        AclImage image = AclImage.NONE;
        for (AclBinding acl : acls) {
            image = image.with(acl(acl));
        }
        AclDecision decision = image.decide(
                question.principal(),
                question.host(),
                AclOperation.of(question.operation().code()),
                AclResourceType.of(question.type().code()),
                question.name());
        boolean complete = settings != null;
        if (complete
                && AccessSettings.principals(settings.getOrDefault(AccessSettings.SUPER_USERS.name(), ""))
                        .contains(question.principal())) {
            return new Explanation(
                    question,
                    true,
                    decision.verdict(),
                    question.principal() + " is in super.users",
                    List.of(),
                    List.of(),
                    true);
        }
        boolean everyone = complete && "true".equals(settings.get(AccessSettings.ALLOW_EVERYONE.name()));
        boolean allowed = decision.verdict() == Verdict.ALLOWED || (decision.verdict() == Verdict.NO_ACL && everyone);
        String rule =
                switch (decision.verdict()) {
                    case ALLOWED, DENIED -> decision.acl().toString();
                    case NOT_ALLOWED -> "ACLs apply to the resource, and none of them allows this";
                    case NO_ACL ->
                        "no ACL applies to the resource"
                                + (everyone ? ", and allow.everyone.if.no.acl.found is true" : "");
                };
        return new Explanation(
                question,
                allowed,
                decision.verdict(),
                rule,
                allowed ? List.of() : nearMisses(question, acls),
                allowed ? List.of() : missing(question, image, decision, everyone),
                complete);
    }

    private static Acl acl(AclBinding acl) {
        return new Acl(
                new AclResource(
                        AclResourceType.of(acl.resourceType().code()),
                        AclPattern.of(acl.patternType().code()),
                        acl.resourceName()),
                acl.principal(),
                acl.host(),
                AclOperation.of(acl.operation().code()),
                AclPermission.of(acl.permission().code()));
    }

    /** ACLs that allow something, and differ in one property. */
    private static List<NearMiss> nearMisses(Question question, List<AclBinding> acls) {
        List<NearMiss> found = new ArrayList<>();
        for (AclBinding acl : acls) {
            if (acl.permission() == Permission.DENY) {
                continue;
            }
            List<String> differences = new ArrayList<>();
            String name = difference(acl, question.name());
            if (name != null) {
                differences.add(name);
            }
            if (!acl.principal().equals(question.principal())
                    && !acl.principal().equals(Acl.EVERY_USER)) {
                differences.add("it is for " + acl.principal());
            }
            if (!acl.host().equals(AclBinding.EVERY) && !acl.host().equals(question.host())) {
                differences.add("it is for clients at " + acl.host());
            }
            if (!acl(acl).covers(AclOperation.of(question.operation().code()))) {
                differences.add("it allows " + acl.operation() + ", not " + question.operation());
            }
            if (differences.size() == 1 && found.size() < MAX_NEAR_MISSES) {
                found.add(new NearMiss(acl, differences.get(0)));
            }
        }
        return found;
    }

    /** Why the name in an ACL does not cover a name; null if it does. */
    private static String difference(AclBinding acl, String name) {
        String of = acl.resourceName();
        boolean prefix = acl.patternType() == PatternType.PREFIXED;
        if (prefix ? name.startsWith(of) : of.equals(name) || of.equals(AclBinding.EVERY)) {
            return null;
        }
        if (!prefix && name.startsWith(of)) {
            return "it is for the name '" + of + "' exactly, not for names that begin with it";
        }
        if (of.equalsIgnoreCase(name) || (prefix && name.regionMatches(true, 0, of, 0, of.length()))) {
            return "its name differs in upper and lower case";
        }
        if (!prefix && of.endsWith(AclBinding.EVERY)) {
            return "'" + of + "' is the name of one resource; only '*' alone stands for all";
        }
        return "it is for the " + (prefix ? "prefix" : "name") + " '" + of + "'";
    }

    /** @param everyone whether everybody may use a resource that no ACL applies to */
    private static List<String> missing(Question question, AclImage image, AclDecision decision, boolean everyone) {
        List<String> commands = new ArrayList<>();
        AclImage allowing = image;
        AclDecision next = decision;
        while (next.verdict() == Verdict.DENIED) {
            Acl denies = next.acl();
            commands.add("journalq access revoke --deny --principal " + ResourceOptions.quoted(denies.principal())
                    + " --operation " + ResourceOptions.word(denies.operation()) + " "
                    + ResourceOptions.text(
                            question.type(),
                            denies.resource().pattern() == AclPattern.PREFIXED
                                    ? PatternType.PREFIXED
                                    : PatternType.LITERAL,
                            denies.resource().name())
                    + (denies.host().equals(AclBinding.EVERY)
                            ? ""
                            : " --host " + ResourceOptions.quoted(denies.host())));
            allowing = allowing.without(denies);
            next = allowing.decide(
                    question.principal(),
                    question.host(),
                    AclOperation.of(question.operation().code()),
                    AclResourceType.of(question.type().code()),
                    question.name());
        }
        if (next.verdict() != Verdict.ALLOWED && !(next.verdict() == Verdict.NO_ACL && everyone)) {
            commands.add("journalq access grant --principal " + ResourceOptions.quoted(question.principal())
                    + " --operation " + ResourceOptions.word(question.operation()) + " "
                    + ResourceOptions.text(question.type(), PatternType.LITERAL, question.name()));
        }
        return commands;
    }

    /** For a person. */
    List<String> lines() {
        List<String> lines = new ArrayList<>();
        lines.add((allowed ? "ALLOWED: " : "DENIED: ") + question.principal() + " " + question.operation() + " on "
                + question.type() + " '" + question.name() + "'"
                + (question.host().isEmpty() ? "" : " from " + question.host()));
        lines.add("decided by: " + rule);
        for (NearMiss miss : nearMisses) {
            lines.add("near miss:  " + miss.acl() + ": " + miss.why());
        }
        for (String command : missing) {
            lines.add("to allow:   " + command);
        }
        if (!complete) {
            lines.add("You may not read the settings of the broker. Its super.users and"
                    + " allow.everyone.if.no.acl.found are not considered.");
        }
        return lines;
    }

    /** For a program. */
    Map<String, Object> json() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("allowed", allowed);
        json.put("verdict", verdict.name());
        json.put("principal", question.principal());
        json.put("host", question.host().isEmpty() ? null : question.host());
        json.put("operation", question.operation().name());
        json.put("resourceType", question.type().name());
        json.put("resourceName", question.name());
        json.put("rule", rule);
        List<Object> misses = new ArrayList<>();
        for (NearMiss miss : nearMisses) {
            Map<String, Object> one = AccessCommand.json(miss.acl());
            one.put("why", miss.why());
            misses.add(one);
        }
        json.put("nearMisses", misses);
        json.put("missing", missing);
        json.put("settingsKnown", complete);
        return json;
    }
}
