package io.idempotency.store;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** The timers of all engines have one thread. */
class SystemSchedulerTests {

	private final Logger logger = (Logger) LoggerFactory.getLogger(Scheduler.class);

	private final HeldLog log = new HeldLog();

	private final SystemScheduler scheduler = new SystemScheduler();

	@BeforeEach
	void hold() {
		this.logger.setAdditive(false);
		this.logger.addAppender(this.log);
		this.log.start();
	}

	@AfterEach
	void close() {
		this.log.free.countDown();
		this.scheduler.close();
		this.logger.detachAppender(this.log);
		this.logger.setAdditive(true);
	}

	@Test
	void logThatBlocksHoldsUpNoTimer() throws Exception {
		CountDownLatch ran = new CountDownLatch(3);
		for (int i = 0; i < 3; i++) {
			this.scheduler.schedule(() -> {
				ran.countDown();
				throw new NoClassDefFoundError("driver");
			}, Duration.ofMillis(1));
		}
		ran.await();
		await().until(() -> this.log.thread != null);
		assertThat(this.log.thread).doesNotContain("timer").startsWith("idempotency-failures");
	}

	/** An appender whose disk is full, say. */
	private static final class HeldLog extends AppenderBase<ILoggingEvent> {

		private final CountDownLatch free = new CountDownLatch(1);

		private volatile @Nullable String thread;

		@Override
		protected void append(ILoggingEvent event) {
			this.thread = event.getThreadName();
			try {
				this.free.await();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}

	}

}
