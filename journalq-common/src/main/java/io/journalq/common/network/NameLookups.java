package io.journalq.common.network;

import io.netty.bootstrap.Bootstrap;
import io.netty.resolver.AddressResolver;
import io.netty.resolver.AddressResolverGroup;
import io.netty.resolver.InetNameResolver;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Promise;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Looks up the host names of connections on threads of its own. A lookup blocks its thread for many seconds if no DNS
 * server responds, and an event loop would serve no connection meanwhile. At most one lookup of a name runs at a time:
 * others that need the name wait for it. Any thread.
 */
public final class NameLookups {
    /** Looks up names as the system does. */
    public static final NameLookups SYSTEM = new NameLookups(InetAddress::getByName);

    /** Number of names that are looked up at a time; other lookups fail. */
    private static final int MAX_THREADS = 64;

    private static final long IDLE_THREAD_SECONDS = 1;

    private final Lookup lookup;
    private final Group group = new Group();
    private final Executor threads = new ThreadPoolExecutor(
            0,
            MAX_THREADS,
            IDLE_THREAD_SECONDS,
            TimeUnit.SECONDS,
            new SynchronousQueue<>(),
            new DefaultThreadFactory("journalq-names", true));
    /** The lookups that run, by name. */
    private final ConcurrentMap<String, CompletableFuture<InetAddress>> running = new ConcurrentHashMap<>();

    /** Looks up a name. */
    @FunctionalInterface
    public interface Lookup {
        /** Blocks until the address is known. */
        InetAddress addressOf(String host) throws UnknownHostException;
    }

    /** Looks up names with {@code lookup}. */
    public NameLookups(Lookup lookup) {
        this.lookup = lookup;
    }

    /** Lets the connections of {@code bootstrap} look up names here. */
    public void use(Bootstrap bootstrap) {
        bootstrap.resolver(group);
    }

    AddressResolver<InetSocketAddress> resolver(EventExecutor executor) {
        return group.getResolver(executor);
    }

    private final class Group extends AddressResolverGroup<InetSocketAddress> {
        @Override
        protected AddressResolver<InetSocketAddress> newResolver(EventExecutor executor) {
            return new Resolver(executor).asAddressResolver();
        }
    }

    private final class Resolver extends InetNameResolver {
        private Resolver(EventExecutor executor) {
            super(executor);
        }

        @Override
        protected void doResolve(String host, Promise<InetAddress> promise) {
            complete(executor(), promise, find(host));
        }

        @Override
        protected void doResolveAll(String host, Promise<List<InetAddress>> promise) {
            complete(executor(), promise, find(host).thenApply(List::of));
        }

        private static <T> void complete(EventExecutor loop, Promise<T> promise, CompletableFuture<T> found) {
            var unused = found.whenComplete((result, failure) -> {
                if (loop.inEventLoop()) {
                    complete(promise, result, failure);
                    return;
                }
                try {
                    // The loop calls the listeners. If it has ended, the promise would log that it cannot call them.
                    loop.execute(() -> complete(promise, result, failure));
                } catch (RejectedExecutionException ended) {
                    // The loop has closed the connection that needed the name.
                }
            });
        }

        private static <T> void complete(Promise<T> promise, T result, Throwable failure) {
            if (failure == null) {
                promise.trySuccess(result);
            } else {
                promise.tryFailure(failure instanceof CompletionException ? failure.getCause() : failure);
            }
        }
    }

    private CompletableFuture<InetAddress> find(String host) {
        CompletableFuture<InetAddress> found = new CompletableFuture<>();
        if (NetUtil.isValidIpV4Address(host) || NetUtil.isValidIpV6Address(host)) {
            complete(found, host, InetAddress::getByName);
            return found;
        }
        CompletableFuture<InetAddress> before = running.putIfAbsent(host, found);
        if (before != null) {
            return before;
        }
        try {
            threads.execute(() -> {
                complete(found, host, lookup);
                running.remove(host, found);
            });
        } catch (RejectedExecutionException tooMany) {
            running.remove(host, found);
            found.completeExceptionally(new UnknownHostException(host + ": too many names are looked up at a time"));
        } catch (RuntimeException | Error noThread) {
            running.remove(host, found);
            found.completeExceptionally(noThread);
        }
        return found;
    }

    private static void complete(CompletableFuture<InetAddress> found, String host, Lookup lookup) {
        try {
            found.complete(lookup.addressOf(host));
        } catch (UnknownHostException | RuntimeException | Error failure) {
            found.completeExceptionally(failure);
        }
    }
}
