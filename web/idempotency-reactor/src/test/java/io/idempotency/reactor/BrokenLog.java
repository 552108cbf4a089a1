package io.idempotency.reactor;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.UnsynchronizedAppenderBase;
import org.slf4j.LoggerFactory;

/** An appender that throws at each line of the library. */
final class BrokenLog extends UnsynchronizedAppenderBase<ILoggingEvent> implements AutoCloseable {

	private final Logger logger = (Logger) LoggerFactory.getLogger("io.idempotency");

	volatile int lines;

	BrokenLog() {
		this.logger.setLevel(Level.DEBUG);
		this.logger.setAdditive(false);
		this.logger.addAppender(this);
		start();
	}

	/** Its own guard would take an exception, but no error. */
	@Override
	public void doAppend(ILoggingEvent event) {
		this.lines++;
		throw new AssertionError("The log is broken");
	}

	@Override
	protected void append(ILoggingEvent event) {
		throw new UnsupportedOperationException();
	}

	@Override
	public void close() {
		this.logger.detachAppender(this);
		this.logger.setAdditive(true);
		this.logger.setLevel(null);
		stop();
	}

}
