package io.idempotency.ai;

import java.util.List;
import java.util.stream.Stream;

import io.modelcontextprotocol.server.McpAsyncServer;
import io.modelcontextprotocol.server.McpServerFeatures;
import io.modelcontextprotocol.server.McpStatelessAsyncServer;
import io.modelcontextprotocol.server.McpStatelessServerFeatures;
import io.modelcontextprotocol.server.McpStatelessSyncServer;
import io.modelcontextprotocol.server.McpSyncServer;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.core.ResolvableType;

/**
 * The settings of tools.
 *
 * @param metaKey the member of a request's {@code _meta} that holds the key of a tool
 * whose annotation names no place
 * @param server whether the application has a server, whose requests have keys
 * @param global whether a key is the same for all callers
 * @param async whether the server runs tools on other threads than their requests
 * @param stateless whether the server has no sessions
 */
record ToolSettings(String metaKey, boolean server, boolean global, boolean async, boolean stateless) {

	/**
	 * Returns whether an application has a server. The SDK alone is on the class path of
	 * every client of a server, too.
	 * @param beans the beans of the application, none of which is created
	 * @return whether there is a server, or a tool of one, among them
	 */
	static boolean hasServer(ListableBeanFactory beans) {
		Stream<Class<?>> servers = Stream.of(McpSyncServer.class, McpAsyncServer.class, McpStatelessSyncServer.class,
				McpStatelessAsyncServer.class);
		Stream<Class<?>> tools = Stream.of(McpServerFeatures.SyncToolSpecification.class,
				McpStatelessServerFeatures.SyncToolSpecification.class);
		return Stream
			.concat(servers.map(ResolvableType::forClass),
					tools.flatMap((tool) -> Stream.of(ResolvableType.forClass(tool),
							ResolvableType.forClassWithGenerics(List.class, tool))))
			.anyMatch(
					(type) -> BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, type, true, false).length > 0);
	}

}
