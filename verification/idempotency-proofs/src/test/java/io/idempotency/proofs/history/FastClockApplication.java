package io.idempotency.proofs.history;

import java.lang.reflect.Method;

import io.idempotency.it.faults.ShiftedClock;

/** The application on a node whose clock is five minutes fast. */
final class FastClockApplication {

	private FastClockApplication() {
	}

	public static void main(String[] args) throws ReflectiveOperationException {
		@SuppressWarnings("resource") // as long as the JVM
		ShiftedClock clock = new ShiftedClock();
		Thread.currentThread().setContextClassLoader(clock);
		Method main = clock.loadClass(HistoryApplication.class.getName()).getDeclaredMethod("main", String[].class);
		main.setAccessible(true);
		main.invoke(null, (Object) args);
	}

}
