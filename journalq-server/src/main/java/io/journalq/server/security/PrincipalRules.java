package io.journalq.server.security;

import com.google.re2j.Matcher;
import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Derives the identity of a client from the distinguished name of its certificate, in the form of RFC 2253. The first rule
 * whose pattern matches the whole name applies. A name that no rule matches has no identity. Immutable, any thread.
 *
 * <p>Source: KIP-371, {@code SslPrincipalMapper} of Kafka. Patterns have the syntax of RE2, so that a match takes linear
 * time.
 */
public final class PrincipalRules {
    private static final String DEFAULT_RULE = "DEFAULT";
    private static final String RULE_PREFIX = "RULE:";
    private static final java.util.regex.Pattern ESCAPES_AND_GROUPS =
            java.util.regex.Pattern.compile("(?s)\\\\.|\\$(\\d+)|\\$\\{([^}]*)}?");

    /** The name itself. */
    public static final PrincipalRules DEFAULT = parse(DEFAULT_RULE);

    private final List<Rule> rules;

    private enum LetterCase {
        UNCHANGED,
        LOWER,
        UPPER
    }

    /** @param pattern null for the name itself */
    private record Rule(Pattern pattern, String replacement, LetterCase letterCase) {
        private static final Rule DEFAULT = new Rule(null, null, LetterCase.UNCHANGED);

        /** The name of the user; null if the pattern does not match. */
        String apply(String distinguishedName) {
            if (pattern == null) {
                return distinguishedName;
            }
            Matcher matcher = pattern.matcher(distinguishedName);
            if (!matcher.matches()) {
                return null;
            }
            String name = matcher.replaceFirst(replacement);
            return switch (letterCase) {
                case UNCHANGED -> name;
                case LOWER -> name.toLowerCase(Locale.ENGLISH);
                case UPPER -> name.toUpperCase(Locale.ENGLISH);
            };
        }
    }

    private PrincipalRules(List<Rule> rules) {
        this.rules = List.copyOf(rules);
    }

    /**
     * Parses rules: {@code RULE:pattern/replacement/}, optionally followed by {@code L} or {@code U}, or {@code DEFAULT},
     * separated by commas. A slash within a pattern or a replacement is written with a backslash before it.
     *
     * @throws IllegalArgumentException when the text is malformed, with one line for the operator
     */
    public static PrincipalRules parse(String text) {
        List<Rule> rules = new ArrayList<>();
        int position = skipBlanks(text, 0);
        while (position < text.length()) {
            if (text.startsWith(DEFAULT_RULE, position)) {
                rules.add(Rule.DEFAULT);
                position += DEFAULT_RULE.length();
            } else if (text.startsWith(RULE_PREFIX, position)) {
                position = parseRule(text, position + RULE_PREFIX.length(), rules);
            } else {
                throw malformed(text, position);
            }
            position = skipBlanks(text, position);
            if (position < text.length()) {
                if (text.charAt(position) != ',') {
                    throw malformed(text, position);
                }
                position = skipBlanks(text, position + 1);
            }
        }
        if (rules.isEmpty()) {
            throw new IllegalArgumentException("there must be at least one rule, such as DEFAULT");
        }
        return new PrincipalRules(rules);
    }

    private static int parseRule(String text, int start, List<Rule> rules) {
        int patternEnd = nextSlash(text, start);
        int replacementEnd = nextSlash(text, patternEnd + 1);
        int next = replacementEnd + 1;
        LetterCase letterCase = LetterCase.UNCHANGED;
        if (next < text.length() && (text.charAt(next) == 'L' || text.charAt(next) == 'U')) {
            letterCase = text.charAt(next) == 'L' ? LetterCase.LOWER : LetterCase.UPPER;
            next++;
        }
        try {
            Pattern pattern = Pattern.compile(text.substring(start, patternEnd));
            String replacement = text.substring(patternEnd + 1, replacementEnd);
            rules.add(new Rule(pattern, escapeUnknownGroups(replacement, pattern), letterCase));
        } catch (PatternSyntaxException wrong) {
            throw new IllegalArgumentException(
                    "'" + text.substring(start, patternEnd) + "' is not a pattern of RE2: " + wrong.getDescription());
        }
        return next;
    }

    /**
     * A reference by number to a group that the pattern does not have is a literal text, as in Kafka. One by name is
     * refused. A character after a backslash is a literal already.
     */
    private static String escapeUnknownGroups(String replacement, Pattern pattern) {
        return ESCAPES_AND_GROUPS.matcher(replacement).replaceAll(found -> {
            String name = found.group(2);
            if (name != null
                    && !(found.group().endsWith("}") && pattern.namedGroups().containsKey(name))) {
                throw new IllegalArgumentException("'" + found.group() + "' names no group of '" + pattern + "'");
            }
            String group = found.group(1);
            boolean kept = group == null || (group.length() == 1 && Integer.parseInt(group) <= pattern.groupCount());
            return java.util.regex.Matcher.quoteReplacement((kept ? "" : "\\") + found.group());
        });
    }

    private static int nextSlash(String text, int start) {
        for (int i = start; i < text.length(); i++) {
            if (text.charAt(i) == '\\') {
                i++;
            } else if (text.charAt(i) == '/') {
                return i;
            }
        }
        throw malformed(text, start);
    }

    private static int skipBlanks(String text, int start) {
        int i = start;
        while (i < text.length() && Character.isWhitespace(text.charAt(i))) {
            i++;
        }
        return i;
    }

    private static IllegalArgumentException malformed(String text, int position) {
        return new IllegalArgumentException("'" + text.substring(position) + "' must begin with DEFAULT or with"
                + " RULE:pattern/replacement/, and rules must be separated by commas");
    }

    /**
     * The identity of the client that presented a certificate.
     *
     * @param certificate null if it has presented none: then it is {@link Principal#ANONYMOUS}
     * @throws IllegalArgumentException when no rule matches
     */
    public Principal of(X509Certificate certificate) {
        return certificate == null
                ? Principal.ANONYMOUS
                : Principal.user(nameOf(certificate.getSubjectX500Principal().getName()));
    }

    /** The name of the user with a distinguished name. */
    String nameOf(String distinguishedName) {
        for (Rule rule : rules) {
            String name = rule.apply(distinguishedName);
            if (name != null) {
                return name;
            }
        }
        throw new IllegalArgumentException(
                "no rule of ssl.principal.mapping.rules matches the certificate of the client");
    }
}
