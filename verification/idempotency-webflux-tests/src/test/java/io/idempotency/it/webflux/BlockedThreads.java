package io.idempotency.it.webflux;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import reactor.blockhound.BlockHound;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Watches the classes that it extends: code of the library blocks no thread of a server.
 * What an application does is its own affair.
 */
public final class BlockedThreads implements BeforeAllCallback, AfterAllCallback {

	/** BlockHound does not name newer ones. */
	static final int LAST_JAVA = 21;

	static final List<String> FOUND = new CopyOnWriteArrayList<>();

	/** To be done before the threads of a server begin, or it may not find them. */
	static void watch() {
		if (Runtime.version().feature() <= LAST_JAVA) {
			BlockHound.builder()
				.loadIntegrations()
				.blockingMethodCallback((method) -> found(new Throwable(method.toString())))
				.install();
		}
	}

	/**
	 * Notes a call that code of this project has made, through classes of the JDK alone.
	 */
	private static void found(Throwable blocked) {
		Arrays.stream(blocked.getStackTrace())
			.filter((frame) -> !frame.getClassName().startsWith("java.") && !frame.getClassName().startsWith("jdk.")
					&& !frame.getClassName().startsWith("reactor.blockhound.")
					&& !frame.getClassName().equals(BlockedThreads.class.getName()))
			.findFirst()
			.filter((frame) -> isOfLibrary(frame.getClassName()) || frame.getMethodName().contains("canary"))
			.ifPresent((frame) -> FOUND.add(blocked.getMessage() + " at " + frame));
	}

	private static boolean isOfLibrary(String type) {
		return type.startsWith("io.idempotency.") && !type.startsWith("io.idempotency.it.");
	}

	/** Other classes block on purpose. */
	@Override
	public void beforeAll(ExtensionContext context) {
		FOUND.clear();
	}

	@Override
	public void afterAll(ExtensionContext context) {
		assertThat(FOUND).as("calls that block, until the end of %s", context.getDisplayName()).isEmpty();
	}

}
