package io.idempotency.proofs.simulation;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/** Counts the warnings and errors of the engine; none of them reaches the console. */
final class WarningCount extends AppenderBase<ILoggingEvent> implements AutoCloseable {

	private final Logger logger = (Logger) LoggerFactory.getLogger("io.idempotency.engine");

	private final @Nullable Level before = this.logger.getLevel();

	private @Nullable World world;

	private int count;

	WarningCount() {
		this.logger.setAdditive(false);
		this.logger.setLevel(Level.WARN);
		this.logger.addAppender(this);
		start();
	}

	void begin(World observed) {
		this.world = observed;
		this.count = 0;
	}

	void end() {
		this.world = null;
	}

	int count() {
		return this.count;
	}

	@Override
	protected void append(ILoggingEvent event) {
		if (this.world != null && !this.world.isGone()) {
			this.count++;
		}
	}

	@Override
	public void close() {
		this.logger.detachAppender(this);
		this.logger.setLevel(this.before);
		this.logger.setAdditive(true);
		stop();
	}

}
