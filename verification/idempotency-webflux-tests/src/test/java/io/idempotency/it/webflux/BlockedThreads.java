package io.idempotency.it.webflux;

import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;

import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import reactor.blockhound.BlockHound;
import reactor.blockhound.BlockingMethod;

/**
 * Watches all tests of this module: one is red if a thread that must not wait has waited
 * until its end, whoever made it wait. Nothing is thrown where that happens, so nothing
 * can swallow it. Found by JUnit itself, which makes it before any server has a thread.
 */
public final class BlockedThreads implements AfterEachCallback, AfterAllCallback {

	/** BlockHound does not name newer ones. */
	private static final int LAST_JAVA = 21;

	/** Their own calls of the JDK are not ours; what they call is. */
	private static final List<String> OTHERS = List.of(
			// Reads a file at its first connection, and has a lock around its queue.
			"org.mariadb.r2dbc.",
			// Looks for its messages at the first argument that is rejected.
			"org.hibernate.validator.");

	/** These are left after a moment, like monitors, of which BlockHound sees nothing. */
	private static final Set<String> LOCKING = Set.of("lock", "readLock", "writeLock");

	private static final Queue<Throwable> FOUND = new ConcurrentLinkedQueue<>();

	static {
		if (Runtime.version().feature() <= LAST_JAVA) {
			watch();
		}
	}

	private static void watch() {
		BlockHound.Builder watched = BlockHound.builder().loadIntegrations();
		// An application that is lazy is made by its first request.
		for (String server : List.of("web", "web.server")) {
			watched.allowBlockingCallsInside(
					"org.springframework.boot." + server + ".reactive.context.ReactiveWebServerApplicationContext",
					"getHttpHandler");
		}
		// Looks for annotations in class files when the document is asked for.
		for (String looking : List.of("build", "getWebhooksClasses")) {
			watched.allowBlockingCallsInside("org.springdoc.core.service.OpenAPIService", looking);
		}
		// An application that calls a method that blocks where it should not.
		watched.allowBlockingCallsInside(R2dbcStoreTests.Scenarios.class.getName(), "bookOnThisThread");
		watched.blockingMethodCallback(BlockedThreads::found).install();
	}

	private static void found(BlockingMethod method) {
		Throwable blocked = new Throwable();
		List<StackTraceElement> frames = List.of(blocked.getStackTrace());
		StackTraceElement caller = frames.stream()
			.filter((frame) -> Stream.of("java.", "jdk.", "sun.", "reactor.blockhound.", BlockedThreads.class.getName())
				.noneMatch(frame.getClassName()::startsWith))
			.findFirst()
			.orElse(frames.get(0));
		StackTraceElement called = frames.get(Math.max(0, frames.indexOf(caller) - 1));
		if (OTHERS.stream().noneMatch(caller.getClassName()::startsWith) && (!isLock(called) || isOurs(caller))
				&& frames.stream().noneMatch(BlockedThreads::makesClassOfOthers)) {
			FOUND.add(new Throwable(Thread.currentThread().getName() + " in " + method + " for " + caller, blocked));
		}
	}

	private static boolean isLock(StackTraceElement called) {
		return called.getClassName().startsWith("java.util.concurrent.locks.")
				&& LOCKING.contains(called.getMethodName());
	}

	/** Happens once, on whichever thread needs the class first. */
	private static boolean makesClassOfOthers(StackTraceElement frame) {
		return frame.getMethodName().equals("<clinit>") && !isOurs(frame);
	}

	private static boolean isOurs(StackTraceElement caller) {
		return caller.getClassName().startsWith("io.idempotency.");
	}

	@Override
	public void afterEach(ExtensionContext context) {
		assertNone(context);
	}

	@Override
	public void afterAll(ExtensionContext context) {
		assertNone(context);
	}

	private static void assertNone(ExtensionContext context) {
		Throwable first = FOUND.poll();
		if (first == null) {
			return;
		}
		AssertionError failure = new AssertionError("A thread that must not wait has waited until the end of "
				+ context.getDisplayName() + ": " + first.getMessage(), first);
		for (Throwable other = FOUND.poll(); other != null; other = FOUND.poll()) {
			failure.addSuppressed(other);
		}
		throw failure;
	}

}
