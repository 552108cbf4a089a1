package io.idempotency.web;

import java.io.InterruptedIOException;
import java.nio.channels.ClosedByInterruptException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;

import io.idempotency.IdempotencyContext;
import io.idempotency.web.HttpEnding.Work;
import org.junit.jupiter.api.Test;

import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.web.context.request.NativeWebRequest;
import org.springframework.web.context.request.ServletWebRequest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

/** What the thread of a task tells of its end. */
class AsyncWorkTests {

	private static final Callable<String> TASK = () -> "done";

	private final AtomicInteger endedLate = new AtomicInteger();

	private final AsyncWork work = new AsyncWork(mock(IdempotencyContext.class), this.endedLate::incrementAndGet);

	private final NativeWebRequest request = new ServletWebRequest(new MockHttpServletRequest());

	private Work end(Object result) {
		this.work.watchTask();
		this.work.preProcess(this.request, TASK);
		this.work.postProcess(this.request, TASK, result);
		return this.work.state();
	}

	@Test
	void aTaskReturnsOrFails() {
		assertThat(end("done")).isEqualTo(Work.RETURNED);
		assertThat(end(new IllegalStateException("failed"))).isEqualTo(Work.FAILED);
	}

	/** Spring interrupts the worker before anybody else hears of the time-out. */
	@Test
	void aTaskThatIsInterruptedWasStoppedAnywhere() {
		for (Throwable stopped : List.of(new InterruptedException(),
				new IllegalStateException(new RuntimeException(new InterruptedException())),
				new IllegalStateException(new InterruptedIOException()),
				new IllegalStateException(new ClosedByInterruptException()))) {
			assertThat(end(stopped)).as("%s", stopped).isEqualTo(Work.GIVEN_UP);
		}
		assertThat(this.endedLate).hasValue(0);
	}

	@Test
	void anInterruptThatTheTaskHasKeptIsOne() {
		Thread.currentThread().interrupt();
		assertThat(end(new IllegalStateException("failed"))).isEqualTo(Work.GIVEN_UP);
		assertThat(Thread.interrupted()).isTrue();
	}

}
