package io.idempotency.proofs.fuzz;

import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxy;
import ch.qos.logback.core.AppenderBase;
import org.slf4j.LoggerFactory;

/**
 * Takes the log of the server, which is told about each of the broken requests and would
 * fill the disk, and keeps what is about the library.
 */
final class ServerTraces extends AppenderBase<ILoggingEvent> implements AutoCloseable {

	private static final List<String> TAKEN = List.of("org.apache", "org.springframework", "io.idempotency.interceptor",
			"io.idempotency.codec", "io.idempotency.engine", "io.idempotency.store", "io.idempotency.web");

	private static final String OURS = "io.idempotency.";

	private static final String TESTS = "io.idempotency.it.";

	private final Queue<String> found = new ConcurrentLinkedQueue<>();

	private final Queue<String> told = new ConcurrentLinkedQueue<>();

	ServerTraces() {
		setContext(logger("ROOT").getLoggerContext());
		start();
		for (String name : TAKEN) {
			logger(name).addAppender(this);
			logger(name).setAdditive(false);
		}
	}

	private static Logger logger(String name) {
		return (Logger) LoggerFactory.getLogger(name);
	}

	@Override
	protected void append(ILoggingEvent event) {
		boolean ours = isLibrary(event) && event.getLevel().isGreaterOrEqual(Level.ERROR);
		Throwable thrown = (event.getThrowableProxy() instanceof ThrowableProxy proxy) ? proxy.getThrowable() : null;
		for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
			ours |= isOurs(cause);
		}
		if (ours) {
			this.found.add(event + " " + thrown);
		}
		else if (isLibrary(event) && event.getLevel().isGreaterOrEqual(Level.WARN)) {
			this.told.add(event + " " + thrown);
		}
	}

	private static boolean isLibrary(ILoggingEvent event) {
		return event.getLoggerName().startsWith(OURS) && !event.getLoggerName().startsWith(TESTS);
	}

	/** Whether it comes out of the library, and not only passes through it. */
	private static boolean isOurs(Throwable cause) {
		return Arrays.stream(cause.getStackTrace())
			.map(StackTraceElement::getClassName)
			.filter((name) -> !name.startsWith("java.") && !name.startsWith("jdk."))
			.findFirst()
			.filter((name) -> name.startsWith(OURS) && !name.startsWith(TESTS))
			.isPresent();
	}

	/** What the library has failed with; that it warns of an answer is no failure. */
	Queue<String> found() {
		return this.found;
	}

	/** What the library warns of: answers that could not be kept, each kind once. */
	Queue<String> told() {
		return this.told;
	}

	@Override
	public void close() {
		for (String name : TAKEN) {
			logger(name).setAdditive(true);
			logger(name).detachAppender(this);
		}
		stop();
	}

}
