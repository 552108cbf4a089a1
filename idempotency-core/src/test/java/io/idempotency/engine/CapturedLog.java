package io.idempotency.engine;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import org.slf4j.LoggerFactory;

/** What the engine logs meanwhile; nothing of it reaches the console. */
public final class CapturedLog extends AppenderBase<ILoggingEvent> implements AutoCloseable {

	private final Logger logger = (Logger) LoggerFactory.getLogger("io.idempotency.engine");

	private final List<ILoggingEvent> events = new CopyOnWriteArrayList<>();

	public CapturedLog() {
		this.logger.setAdditive(false);
		this.logger.addAppender(this);
		start();
	}

	public void alsoDebug() {
		this.logger.setLevel(Level.DEBUG);
	}

	@Override
	protected void append(ILoggingEvent event) {
		this.events.add(event);
	}

	public List<ILoggingEvent> events() {
		return this.events;
	}

	public List<String> messages(Level level) {
		return this.events.stream()
			.filter((event) -> event.getLevel() == level)
			.map(ILoggingEvent::getFormattedMessage)
			.toList();
	}

	@Override
	public void close() {
		this.logger.detachAppender(this);
		this.logger.setAdditive(true);
		this.logger.setLevel(null);
		stop();
	}

}
