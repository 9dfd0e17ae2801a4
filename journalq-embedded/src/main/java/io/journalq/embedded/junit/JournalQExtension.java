package io.journalq.embedded.junit;

import io.journalq.embedded.EmbeddedBroker;
import io.journalq.embedded.EmbeddedBrokerBuilder;
import io.journalq.embedded.JournalQ;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives an {@link EmbeddedBroker} to constructors and methods of a test class that ask for one: the same for the whole
 * class with the classes nested in it, started when it is first asked for, closed after the last test. By
 * {@code @ExtendWith(JournalQExtension.class)} it keeps its data in memory; {@code @RegisterExtension static final} with
 * {@link #of} takes other settings. Needs JUnit 5.13 or newer.
 */
public final class JournalQExtension implements ParameterResolver {
    private static final ExtensionContext.Namespace NAMESPACE =
            ExtensionContext.Namespace.create(JournalQExtension.class);

    private final EmbeddedBrokerBuilder builder;

    /** A broker in memory. */
    public JournalQExtension() {
        this(JournalQ.embedded().inMemory());
    }

    private JournalQExtension(EmbeddedBrokerBuilder builder) {
        this.builder = builder;
    }

    /** A broker with settings of one's own. */
    public static JournalQExtension of(EmbeddedBrokerBuilder builder) {
        return new JournalQExtension(builder);
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == EmbeddedBroker.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        // JUnit closes what is in the store when the class that it belongs to is done.
        return outermostClass(context)
                .getStore(NAMESPACE)
                .getOrComputeIfAbsent(EmbeddedBroker.class, key -> builder.start(), EmbeddedBroker.class);
    }

    private static ExtensionContext outermostClass(ExtensionContext context) {
        ExtensionContext outermost = context;
        while (outermost
                .getParent()
                .filter(parent -> parent != context.getRoot())
                .isPresent()) {
            outermost = outermost.getParent().orElseThrow();
        }
        return outermost;
    }
}
