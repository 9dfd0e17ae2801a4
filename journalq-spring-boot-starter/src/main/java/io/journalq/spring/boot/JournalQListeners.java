package io.journalq.spring.boot;

import io.journalq.client.Consumer;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.slf4j.LoggerFactory;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;

/**
 * Finds the methods with {@link JournalQListener} when beans are created, and runs their containers from the start of the
 * context to its stop. Thread-safe.
 *
 * <p>The lock of this object is never held while a bean is looked up. Such a lookup can wait for a thread that creates
 * a bean, and that thread calls this class if the bean has listeners.
 */
final class JournalQListeners implements BeanPostProcessor, SmartLifecycle {
    /** Learns of the consumers of listeners. The metrics implement it if Micrometer is on the class path. */
    @FunctionalInterface
    interface ConsumerObserver {
        /**
         * Called before the first poll.
         *
         * @param clientId the name of the consumer, which no other consumer of a listener has
         */
        void created(Consumer consumer, String clientId);
    }

    /** The default of the client. */
    private static final Duration MAX_POLL_INTERVAL = Duration.ofMinutes(5);

    private final ConfigurableBeanFactory beans;
    private final AtomicInteger created = new AtomicInteger();
    private final List<Found> found = new ArrayList<>();
    private final List<ListenerContainer> containers = new ArrayList<>();

    private int lastStart;

    /** The number of the start whose containers may run, from its begin to the stop; 0 if there is none. */
    private int current;

    /** Whether all listeners that were found before have been started. */
    private boolean running;

    JournalQListeners(ConfigurableBeanFactory beans) {
        this.beans = beans;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        Class<?> type = AopUtils.getTargetClass(bean);
        if (AnnotationUtils.isCandidateClass(type, JournalQListener.class)) {
            Map<Method, JournalQListener> methods =
                    MethodIntrospector.selectMethods(type, (MethodIntrospector.MetadataLookup<JournalQListener>)
                            method -> AnnotatedElementUtils.findMergedAnnotation(method, JournalQListener.class));
            if (!methods.isEmpty() && !isSingleton(beanName)) {
                throw new IllegalStateException("the bean " + beanName + " has listeners, so that its scope must be"
                        + " singleton: consumers of each of its instances would run until the context stops");
            }
            methods.forEach((method, annotation) ->
                    add(new Found(bean, AopUtils.selectInvocableMethod(method, bean.getClass()), annotation)));
        }
        return bean;
    }

    /** A bean that is a proxy of one in another scope creates instances of that whenever it is called. */
    private boolean isSingleton(String beanName) {
        return Stream.of(beanName, ScopedProxyUtils.getTargetBeanName(beanName))
                .allMatch(name -> !beans.containsBean(name) || beans.isSingleton(name));
    }

    private void add(Found listener) {
        int start;
        synchronized (this) {
            found.add(listener);
            if (!running) {
                return;
            }
            start = current;
        }
        // A bean that is created when it is first needed.
        run(listener, start);
    }

    @Override
    public boolean isAutoStartup() {
        return beans.getBean(JournalQProperties.class).listener().autoStartup();
    }

    @Override
    public void start() {
        int start;
        synchronized (this) {
            if (current != 0) {
                return;
            }
            start = ++lastStart;
            current = start;
        }
        try {
            int started = 0;
            for (Found next = next(started, start); next != null; next = next(started, start)) {
                run(next, start);
                started++;
            }
        } catch (RuntimeException | Error e) {
            stop(start);
            throw e;
        }
    }

    /**
     * The next listener to start; null if there is none. There can be more than at the begin: a container can need a
     * bean that has listeners, too, and other threads can create such beans.
     */
    private synchronized Found next(int started, int start) {
        if (start != current) {
            return null;
        }
        if (started < found.size()) {
            return found.get(started);
        }
        running = true;
        return null;
    }

    private void run(Found listener, int start) {
        JournalQProperties properties = beans.getBean(JournalQProperties.class);
        ListenerMethod method = new ListenerMethod(
                listener.bean, listener.method, listener.annotation, properties, new NamedSerdes(beans));
        String groupId = resolve(listener.annotation.groupId());
        if (groupId.isEmpty() && properties.consumer().groupId() == null) {
            throw new IllegalStateException("the listener " + method.name()
                    + " has no consumer group; set groupId of the annotation, or journalq.consumer.group-id");
        }
        if (listener.annotation.concurrency() < 1) {
            throw new IllegalStateException("the listener " + method.name() + " has a concurrency of "
                    + listener.annotation.concurrency() + ", so that nobody would read; use 1 or more");
        }
        List<String> topics =
                Arrays.stream(listener.annotation.topics()).map(this::resolve).toList();
        ListenerFailureHandler failures = beans.getBeanProvider(ListenerFailureHandler.class)
                .getIfAvailable(() -> (record, cause) -> LoggerFactory.getLogger(JournalQListener.class)
                        .error("the listener {} gave up {}", method.name(), record, cause));
        Duration maxPollInterval =
                Objects.requireNonNullElse(properties.consumer().maxPollInterval(), MAX_POLL_INTERVAL);
        for (int i = 0; i < listener.annotation.concurrency(); i++) {
            String name = method.name() + "-" + created.incrementAndGet();
            Consumer.Builder builder =
                    beans.getBean(ConsumerFactory.class).builder(name).autoCommit(true);
            if (!groupId.isEmpty()) {
                builder.groupId(groupId);
            }
            Consumer consumer = builder.build();
            boolean started = false;
            try {
                beans.getBeanProvider(ConsumerObserver.class).forEach(observer -> observer.created(consumer, name));
                ListenerContainer container = new ListenerContainer(
                        name, method, consumer, topics, properties.listener(), maxPollInterval, failures);
                started = run(container, start);
            } finally {
                if (!started) {
                    // No container closes it.
                    consumer.close();
                }
            }
        }
    }

    /**
     * Starts a container, unless the listeners have been stopped in the meantime. If they have been started again, too,
     * that start has started the listener.
     */
    private synchronized boolean run(ListenerContainer container, int start) {
        if (start != current) {
            return false;
        }
        container.start();
        containers.add(container);
        return true;
    }

    private String resolve(String text) {
        String resolved = beans.resolveEmbeddedValue(text);
        return resolved == null ? "" : resolved;
    }

    @Override
    public void stop() {
        int start;
        synchronized (this) {
            start = current;
        }
        stop(start);
    }

    /** Does nothing if this start has been stopped. */
    private void stop(int start) {
        List<ListenerContainer> stopping;
        synchronized (this) {
            if (start != current) {
                return;
            }
            current = 0;
            running = false;
            stopping = List.copyOf(containers);
            containers.clear();
        }
        stopping.forEach(ListenerContainer::requestStop);
        stopping.forEach(ListenerContainer::stop);
    }

    /** Also during the start: Spring does not stop what does not run. */
    @Override
    public synchronized boolean isRunning() {
        return current != 0;
    }

    private record Found(Object bean, Method method, JournalQListener annotation) {}
}
